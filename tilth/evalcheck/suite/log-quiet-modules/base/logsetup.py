"""How the shop's programs write their log."""

import logging

NAME = "shop"
FORMAT = "%(levelname)s %(name)s: %(message)s"


def configure(verbosity=0, stream=None):
    """Have the shop's log written to a stream, standard error by default; a second call replaces.

    Other loggers and the root logger belong to others and are left alone.
    """
    logger = logging.getLogger(NAME)
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter(FORMAT))
    logger.addHandler(handler)
    logger.setLevel(level_of(verbosity))
    logger.propagate = False
    return logger


def level_of(verbosity):
    """Give the level for a number of -v flags."""
    if verbosity <= 0:
        return logging.WARNING
    return logging.INFO if verbosity == 1 else logging.DEBUG


def module_logger(module):
    """Give the logger of one of the shop's modules."""
    return logging.getLogger(f"{NAME}.{module}")
