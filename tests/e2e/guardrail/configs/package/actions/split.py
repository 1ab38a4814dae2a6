def parts(text):
    return text.split()
