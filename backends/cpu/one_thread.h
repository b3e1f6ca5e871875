#pragma once

// oneDNN is told to use the thread that calls it and no other: its own team of threads stalls for
// milliseconds when a core is busy, and ours share work between calls instead.

namespace virtaccel::backends::cpu {

// For a thread that is ours, for good.
void use_one_thread();

// For somebody else's thread that runs `prepare`, until the scope ends.
class OneThreadScope {
  public:
    OneThreadScope();
    OneThreadScope(const OneThreadScope&) = delete;
    OneThreadScope& operator=(const OneThreadScope&) = delete;
    ~OneThreadScope();

  private:
    int previous_ = 1;
};

}  // namespace virtaccel::backends::cpu
