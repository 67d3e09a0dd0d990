"""The base: errors, frozen values, time, interrupts and text made safe to show."""
