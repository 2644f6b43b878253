"""Methods and other tools side by side: `python -m bench`, in a clone of the repository."""
