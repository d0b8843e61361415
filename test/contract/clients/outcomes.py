"""The outcome of each call of a client library, as JSON: null if it worked, else its refusal (outcomes.ts)."""
import json
import sys


def subject():
    """Reads root and token, and runs the recipe of the documentation; returns the functions of the recipe by name."""
    given = json.load(sys.stdin)
    functions = {}
    exec(given['recipe'], functions)
    return given['root'], given['token'], functions


def outcomes_of(calls, refused_of):
    """
    Runs functions without arguments, by name. `refused_of` converts an exception to (status or None, text), or returns
    None if it is not a refusal. Such an exception ends the program.
    """
    outcomes = {}
    for name, call in calls.items():
        try:
            call()
            outcomes[name] = None
        except Exception as error:
            refused = refused_of(error)
            if refused is None:
                raise
            outcomes[name] = {'status': refused[0], 'text': refused[1]}
    return outcomes


def methods_of(*classes):
    """The names of the public methods of classes."""
    return sorted({
        name for each in classes for name in dir(each)
        if not name.startswith('_') and not hasattr(dict, name) and callable(getattr(each, name))
    })


def report(outcomes, methods):
    print(json.dumps({'outcomes': outcomes, 'methods': methods}))
