#include "host/error.h"

#include <expected>
#include <string>
#include <system_error>
#include <utility>

namespace virtaccel::host {

std::string system_words(int code) {
    return std::error_code{code, std::generic_category()}.message();
}

std::unexpected<Error> system_error(const SystemFailure& failure, int code) {
    std::string message = "The ";
    message += failure.thing;
    message += " (";
    message += failure.name;
    message += ") cannot be ";
    message += failure.done;
    message += ": ";
    message += system_words(code);
    message += "; ";
    message += failure.advice;
    message += '.';
    return error(std::move(message));
}

}  // namespace virtaccel::host
