"""Pages: a bench and its episodes as HTML, in one file or served live.

``source`` finds the episodes and ``overview`` sums them up. ``trace_index`` and ``episode_view`` read one trace in
pages; ``event_renderer`` renders its events. ``archive`` writes the file and ``server`` serves the pages; both use the
client in ``client/``.
"""
