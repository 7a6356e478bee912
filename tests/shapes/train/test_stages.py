"""`python -m shapes.train all` can be started: it names only stages there are, and knows how long each lasts."""

import ast
import inspect

import pytest

from shapes.train import __main__ as command

pytestmark = pytest.mark.engine


def test_all_runs_only_stages_that_there_are():
    assert [stage for stage in command._ORDER if stage not in command._STAGES] == []


def courses():
    """The names of the courses the command opens."""
    for node in ast.walk(ast.parse(inspect.getsource(command))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "_course":
            yield from (name.value for name in node.args[1:] if isinstance(name, ast.Constant))


def test_every_course_lasts_a_number_of_steps_unless_told_otherwise():
    assert {name for name in courses() if name not in command._DEFAULT_STEPS} == set()
