"""The tests that do ten thousand times what others do once.

Whoever runs tests for the lines they reach leaves them out: they reach none that others do not.
"""

REPETITIVE_TESTS = (
    "FrameTest.refuses_every_opcode_that_is_not_assigned",
    "MemoryTest.stays_flat_over_many_failures",
    "WearTest.never_issues_an_id_twice_however_often_a_slot_is_used",
)
