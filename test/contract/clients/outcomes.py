"""What becomes of each call of a client library, as JSON: null where it worked, else its refusal (outcomes.ts)."""
import json
import sys


def subject():
    """What is called: root, token, and the recipe of README.md that connects to it, as its functions by name."""
    told = json.load(sys.stdin)
    functions = {}
    exec(told['recipe'], functions)
    return told['root'], told['token'], functions


def outcomes_of(calls, refused_of):
    """
    calls: by name, functions without arguments; refused_of: an exception as (status or None, text), None where it is no
    refusal. Of what is no refusal the program ends.
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
    """The public methods of classes, as they would be called."""
    return sorted({
        name for each in classes for name in dir(each)
        if not name.startswith('_') and not hasattr(dict, name) and callable(getattr(each, name))
    })


def tell(outcomes, methods):
    print(json.dumps({'outcomes': outcomes, 'methods': methods}))
