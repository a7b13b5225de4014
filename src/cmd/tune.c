#include "cmd/command.h"
