#include "virtaccel/numerics/cases.h"

#include <span>
#include <vector>

#include "virtaccel/numerics/sketch.h"

namespace virtaccel::numerics {

std::span<const Case> cases() {
    static const std::vector<Case> all = [] {
        CaseList list;
        add_product_cases(list);
        add_image_cases(list);
        add_elementwise_cases(list);
        add_reduction_cases(list);
        add_layout_cases(list);
        add_conversion_cases(list);
        return list.take();
    }();
    return all;
}

}  // namespace virtaccel::numerics
