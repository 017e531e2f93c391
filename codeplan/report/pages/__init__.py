"""Pages: a bench and its episodes as HTML, in one file or served as they grow.

``runs`` finds what there is, ``overview`` sums it up, ``index`` and ``episode`` read one trace in pages, ``items`` says
what is shown of an event. ``archive`` writes the file, ``server`` serves it live; both have one client, in ``client/``.
"""
