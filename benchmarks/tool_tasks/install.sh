#!/bin/sh
# Installs the five servers, smolagents and a tokenizer into FOLDER, each apart from codeplan's own environment:
#     sh benchmarks/tool_tasks/install.sh FOLDER
set -e
folder=${1:?name a folder}
mkdir -p "$folder"
npm install --prefix "$folder" --no-audit --no-fund \
    @modelcontextprotocol/server-filesystem @modelcontextprotocol/server-memory @modelcontextprotocol/server-everything
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install -q mcp-server-time mcp-server-git
python3 -m venv "$folder/smolagents"
"$folder/smolagents/bin/pip" install -q "smolagents[mcp,openai]" "mcp<2"
python3 -m pip install -q --target "$folder/tokens" bpe-openai
echo "export TOOL_TASKS_SERVERS=$folder"
