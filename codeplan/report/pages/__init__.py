"""Pages: a bench and its episodes as HTML, in one file or served live.

``report_source`` finds the episodes and ``overview`` sums them up. ``trace_index`` reads a trace in pages, and
``episode_pages`` renders its events. ``archive`` writes the file and ``server`` serves the pages; both use
``html_page`` and the client in ``client/``.
"""
