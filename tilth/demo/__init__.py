"""The demo's material: a small project, a PRD with its tests, and a recorded session.

The project and the tests are kept as `.txt`, so that no tool takes them for Tilth's own code.
"""
