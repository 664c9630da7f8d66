<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>ChoiceBox</name>
    <message>
        <source>Type to filter</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Filter</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ChoicesModel</name>
    <message>
        <source>cannot apply</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>fits</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>too large</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choice</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tok/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens kept</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ControlPanel</name>
    <message>
        <source>&amp;Model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Device</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Recipe</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;KV cache K / V</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KV type of the keys</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KV type of the values</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Context</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Context</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Sequences</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Prompt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>R&amp;untime</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Flash attention</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft m&amp;odel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Off&amp;load</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All other options</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n layer(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n KV head(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>trained to %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>bandwidth unknown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 %2, %3 for one process</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>size of its memory unknown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 (as stored)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 bits a weight</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 a token</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>does not fit at any context</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>largest that fits: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>auto (on)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>auto (off)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>off</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>none</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 tokens a round</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n layer(s) on the card</source>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>default</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>this device has one memory pool</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Changes that would help</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It fits as it is.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No single change makes it fit.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ErrorBar</name>
    <message>
        <source>Choose another…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Error</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ExplainPage</name>
    <message>
        <source>Copy as text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy as JSON</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show in chart</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ledger</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>every number, where it comes from</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Filter by item, formula or source</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Filter</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Formula</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Inputs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 bytes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>exact</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, holds in %2 of 100 cases</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>basis: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>sum of the lines below it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ledger</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ExplorePage</name>
    <message>
        <source>Memory by class</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>click a segment to see where it comes from</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory against context</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GiB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Decode speed against context</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time to first token against prompt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>both axes logarithmic</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Roofline</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>G operations/s against operations a byte</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>uncertain</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>context, tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>memory, GiB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>budget %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>does not fit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>largest %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>context %1, %2, %3 below the budget</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>context %1, %2, %3 above the budget</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>context %1, %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No memory bandwidth or no prior is known for this processor, so no speed is given.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens/s with the draft</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens/s, band = uncertainty</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>uncertainty</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>measured</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>context %1, %2 tokens/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No compute peak is known for this processor, so no time to first token is given.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>seconds</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>prompt, tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>time to first token, s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>prompt of %1 tokens, first token after %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No memory bandwidth is known for this processor, so there is no roof.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>operations a byte</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>G operations/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>roof</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>reachable</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>prefill %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>decode %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>decode</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>prefill</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 peak</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>decode is bound by %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>FindBox</name>
    <message>
        <source>Find a model, a device, an action or a ledger line</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Find</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Footer</name>
    <message>
        <source>Copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Equivalent command</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n warning(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>planned in %1 ms</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>LedgerModel</name>
    <message>
        <source>Item</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Value</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Interval</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Basis</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>MainWindow</name>
    <message>
        <source>&amp;Undo</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Redo</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Open…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Save deployment…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Export…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Find</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Copy command</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Numbers as CSV…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Picture as SVG…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Picture as PNG…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>System</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Light</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Dark</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;About</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>More</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Undo</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Find</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open a model, a deployment or a device</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Models, deployments and devices (*.gguf *.json *.safetensors *.yaml *.yml)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save the deployment</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Deployments (*.yaml)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export what is on screen</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>page</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>action</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>device</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keys</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>pages</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>find models, devices, actions, ledger lines</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>open, save the deployment, export</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>undo, redo</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>copy the equivalent command</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>to the control with that letter underlined</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>in a chart: the cursor by one stop; with Shift a fine step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>in a chart: the next series or candidate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>pin a candidate; open it in Explore</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>why not; constraints; leave</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>zoom, whole range</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the chart as a table</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hatched parts and bands are uncertain; what is solid is exact. Every number opens its line in the ledger: formula, inputs and sources.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>About</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Does this model fit this device, how fast will it be, and how good will it stay?

Catalogues of %1. With Qt %2.

This program is free software under the GNU General Public License, version 3, because Qt Charts is; the memwall library and command are under Apache-2.0.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>MemoryBar</name>
    <message>
        <source>Weights</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>State</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Buffers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Overhead</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory by class</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>budget %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>system and other apps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>headroom</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>needs %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>uncertain</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2 bytes
Click to see where it comes from</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>PinnedModel</name>
    <message>
        <source>unknown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source> +draft</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Recipe</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Context</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Decode</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>First token</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Job</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Quality</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ResultStrip</name>
    <message>
        <source>memory bound</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>compute bound</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>unpacking bound</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>overhead bound</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>storage bound</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>bound by the host</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fits</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Does not fit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Too close to call</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Unsupported</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 too much</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 to spare</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Decode with the draft</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Decode</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no bandwidth known</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 tok/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>First token, %1 prompt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no compute peak known</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>measured</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>interpolated</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>estimated</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>only a bound</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not estimated</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens kept against F16</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Largest context</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>none</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>does not fit at any context</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens, all it was trained for</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens of %1 trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Triangle</name>
    <message>
        <source>as stored</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source> +draft</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>latency and memory agree here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>latency and quality agree here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>memory and quality agree here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the runtime or the device cannot run it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>needs %1, the device gives %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>needs %1 to %2 of %3: too close to call</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>needs %1, the limit is %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>decodes %1 tok/s, %2 asked</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>first token after %1, the limit is %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the job takes %1, the limit is %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>holds %1 tokens, %2 asked</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>keeps %1 % of tokens, %2 % asked</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>quality unknown: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>speed unknown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>loads in %1, the limit is %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>takes %1 J a token, the limit is %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no published score</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>scores %1, %2 asked</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>choices</name>
    <message>
        <source>file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>host (this machine)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>as stored</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>none</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>unknown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 tok/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no change</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>this model keeps no KV cache</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 for both: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, %1 tok/s in all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot be changed with this cache</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>off</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>none: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no smaller model of this tokenizer is known</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>this device has one memory pool</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ledger</name>
    <message>
        <source>Memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Weights</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Recurrent state</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Compute buffer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Output buffer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Repacked copies</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Projector</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Adapter</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Overhead</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Budget</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Speed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Decode</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prefill</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Operators of decode</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Operators of prefill</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>More sequences at once</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Decode without a cache</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Quality</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>embedding</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>attention projections</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>attention</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>feed-forward</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>experts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>shared expert</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>router</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>recurrent part</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>norms</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>output head</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>exact</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>memwall::gui::ExplainPage</name>
    <message>
        <source>Explain</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>memwall::gui::ExplorePage</name>
    <message>
        <source>Explore</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>memwall::gui::Plot</name>
    <message>
        <source>%1: cannot be written: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, low</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, high</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>series</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>memwall::gui::Triangle</name>
    <message>
        <source>memory at most %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>decode at least %1 tok/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>first token within %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>job within %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>load within %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>at most %1 J a token</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>context at least %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens kept at least %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>score at least %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>unknown quality allowed</source>
        <translation type="unfinished"></translation>
    </message>
</context>
</TS>
