"""What the gate runs inside the target's interpreter: copied beside an export, never installed.

These modules take nothing but the standard library and pytest, never the rest of Tilth, and stay
readable for Python 3.8.
"""
