#!/bin/sh
# Installs the five servers, smolagents and a tokenizer into FOLDER, each apart from codeplan's own environment:
#     sh benchmarks/tool_tasks/install.sh FOLDER
# Other versions describe their tools in other words, so the recorded replies would be to other prompts.
set -e
folder=${1:?name a folder}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
npm install --prefix "$folder" --no-audit --no-fund \
    @modelcontextprotocol/server-filesystem@2026.8.31 @modelcontextprotocol/server-memory@2026.8.31 \
    @modelcontextprotocol/server-everything@2026.8.31
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install -q mcp-server-time==2026.10.19 mcp-server-git==2026.10.19
python3 -m venv "$folder/smolagents"
"$folder/smolagents/bin/pip" install -q "smolagents[mcp,openai]==1.26.0" "mcp<2"
python3 -m pip install -q --target "$folder/tokens" bpe-openai==0.1.4
echo "export TOOL_TASKS_SERVERS=$folder"
