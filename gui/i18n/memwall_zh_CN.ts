<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>choices</name>
    <message>
        <source>file</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>host (this machine)</source>
        <translation>host（本机）</translation>
    </message>
    <message>
        <source>as stored</source>
        <translation>按文件所存</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>未知</translation>
    </message>
    <message>
        <source>%1 tok/s</source>
        <translation>%1 tok/s</translation>
    </message>
    <message>
        <source>no change</source>
        <translation>没有变化</translation>
    </message>
    <message>
        <source>this model keeps no KV cache</source>
        <translation>此模型没有 KV 缓存</translation>
    </message>
    <message>
        <source>%1 for both: %2</source>
        <translation>K、V 都用 %1：%2</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>, %1 tok/s in all</source>
        <translation>，合计 %1 tok/s</translation>
    </message>
    <message>
        <source>cannot be changed with this cache</source>
        <translation>用此缓存类型时不能更改</translation>
    </message>
    <message>
        <source>off</source>
        <translation>关</translation>
    </message>
    <message>
        <source>on</source>
        <translation>开</translation>
    </message>
    <message>
        <source>none: %1</source>
        <translation>无：%1</translation>
    </message>
    <message>
        <source>no smaller model of this tokenizer is known</source>
        <translation>没有同一分词器的更小模型</translation>
    </message>
    <message>
        <source>this device has one memory pool</source>
        <translation>此设备只有一个内存池</translation>
    </message>
    <message>
        <source>%1 sequences: %2</source>
        <translation>%1 个序列：%2</translation>
    </message>
</context>
<context>
    <name>ledger</name>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation>KV 缓存</translation>
    </message>
    <message>
        <source>Recurrent state</source>
        <translation>循环状态</translation>
    </message>
    <message>
        <source>Compute buffer</source>
        <translation>计算缓冲</translation>
    </message>
    <message>
        <source>Output buffer</source>
        <translation>输出缓冲</translation>
    </message>
    <message>
        <source>Repacked copies</source>
        <translation>重排副本</translation>
    </message>
    <message>
        <source>Draft model</source>
        <translation>草稿模型</translation>
    </message>
    <message>
        <source>Projector</source>
        <translation>投影器</translation>
    </message>
    <message>
        <source>Adapter</source>
        <translation>适配器</translation>
    </message>
    <message>
        <source>Overhead</source>
        <translation>固定开销</translation>
    </message>
    <message>
        <source>Budget</source>
        <translation>预算</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>速度</translation>
    </message>
    <message>
        <source>Decode</source>
        <translation>解码</translation>
    </message>
    <message>
        <source>Prefill</source>
        <translation>预填充</translation>
    </message>
    <message>
        <source>Operators of decode</source>
        <translation>解码的算子</translation>
    </message>
    <message>
        <source>Operators of prefill</source>
        <translation>预填充的算子</translation>
    </message>
    <message>
        <source>More sequences at once</source>
        <translation>更多并行序列</translation>
    </message>
    <message>
        <source>Decode without a cache</source>
        <translation>不用缓存的解码</translation>
    </message>
    <message>
        <source>Quality</source>
        <translation>质量</translation>
    </message>
    <message>
        <source>embedding</source>
        <translation>嵌入</translation>
    </message>
    <message>
        <source>attention projections</source>
        <translation>注意力投影</translation>
    </message>
    <message>
        <source>attention</source>
        <translation>注意力</translation>
    </message>
    <message>
        <source>feed-forward</source>
        <translation>前馈</translation>
    </message>
    <message>
        <source>experts</source>
        <translation>专家</translation>
    </message>
    <message>
        <source>shared expert</source>
        <translation>共享专家</translation>
    </message>
    <message>
        <source>router</source>
        <translation>路由</translation>
    </message>
    <message>
        <source>recurrent part</source>
        <translation>循环部分</translation>
    </message>
    <message>
        <source>norms</source>
        <translation>归一化</translation>
    </message>
    <message>
        <source>output head</source>
        <translation>输出头</translation>
    </message>
    <message>
        <source>exact</source>
        <translation>精确</translation>
    </message>
    <message>
        <source>at central rates</source>
        <translation>按中心速率</translation>
    </message>
    <message>
        <source>KL divergence, nats</source>
        <translation>KL 散度，奈特</translation>
    </message>
    <message>
        <source>Tokens that differ</source>
        <translation>不同的词元</translation>
    </message>
    <message>
        <source>Evidence</source>
        <translation>证据</translation>
    </message>
    <message>
        <source>layers with a window</source>
        <translation>带窗口的层</translation>
    </message>
    <message>
        <source>full-context layers</source>
        <translation>保留全部词元的层</translation>
    </message>
</context>
<context>
    <name>memwall::gui::BalanceTriangle</name>
    <message>
        <source>wanted %1/%2/%3</source>
        <translation>期望 %1/%2/%3</translation>
    </message>
</context>
<context>
    <name>memwall::gui::ChoiceBox</name>
    <message>
        <source>Type to filter</source>
        <translation>输入以筛选</translation>
    </message>
    <message>
        <source>Filter</source>
        <translation>筛选</translation>
    </message>
</context>
<context>
    <name>memwall::gui::ChoicesModel</name>
    <message>
        <source>cannot apply</source>
        <translation>不适用</translation>
    </message>
    <message>
        <source>fits</source>
        <translation>放得下</translation>
    </message>
    <message>
        <source>too large</source>
        <translation>放不下</translation>
    </message>
    <message>
        <source>Choice</source>
        <translation>选项</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>结论</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>tok/s</source>
        <translation>tok/s</translation>
    </message>
    <message>
        <source>Tokens kept</source>
        <translation>保留词元</translation>
    </message>
</context>
<context>
    <name>memwall::gui::ControlPanel</name>
    <message>
        <source>&amp;Model</source>
        <translation>模型(&amp;M)</translation>
    </message>
    <message>
        <source>&amp;Device</source>
        <translation>设备(&amp;D)</translation>
    </message>
    <message>
        <source>&amp;Recipe</source>
        <translation>量化方案(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;KV cache K / V</source>
        <translation>KV 缓存 K / V(&amp;K)</translation>
    </message>
    <message>
        <source>KV type of the keys</source>
        <translation>键的 KV 类型</translation>
    </message>
    <message>
        <source>KV type of the values</source>
        <translation>值的 KV 类型</translation>
    </message>
    <message>
        <source>&amp;Context</source>
        <translation>上下文(&amp;C)</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>上下文</translation>
    </message>
    <message>
        <source>&amp;Sequences</source>
        <translation>序列(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Prompt</source>
        <translation>提示(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Answer</source>
        <translation>回答(&amp;A)</translation>
    </message>
    <message>
        <source>R&amp;untime</source>
        <translation>运行时(&amp;U)</translation>
    </message>
    <message>
        <source>&amp;Flash attention</source>
        <translation>Flash attention(&amp;F)</translation>
    </message>
    <message>
        <source>Draft m&amp;odel</source>
        <translation>草稿模型(&amp;O)</translation>
    </message>
    <message>
        <source>Off&amp;load</source>
        <translation>卸载(&amp;L)</translation>
    </message>
    <message>
        <source>All other options</source>
        <translation>其他全部选项</translation>
    </message>
    <message numerus="yes">
        <source>%n layer(s)</source>
        <translation>
            <numerusform>%n 层</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n KV head(s)</source>
        <translation>
            <numerusform>%n 个 KV 头</numerusform>
        </translation>
    </message>
    <message>
        <source>trained to %1</source>
        <translation>训练长度 %1</translation>
    </message>
    <message>
        <source>bandwidth unknown</source>
        <translation>带宽未知</translation>
    </message>
    <message>
        <source>%1 %2, %3 per process</source>
        <translation>%1 %2，单进程可用 %3</translation>
    </message>
    <message>
        <source>size of its memory unknown</source>
        <translation>内存大小未知</translation>
    </message>
    <message>
        <source>%1 (as stored)</source>
        <translation>%1（按文件所存）</translation>
    </message>
    <message>
        <source>%1 bits a weight</source>
        <translation>每权重 %1 位</translation>
    </message>
    <message>
        <source>%1 a token</source>
        <translation>每词元 %1</translation>
    </message>
    <message>
        <source>does not fit at any context</source>
        <translation>任何上下文都放不下</translation>
    </message>
    <message>
        <source>largest that fits: %1</source>
        <translation>放得下的最大值：%1</translation>
    </message>
    <message>
        <source>auto (on)</source>
        <translation>auto（开）</translation>
    </message>
    <message>
        <source>auto (off)</source>
        <translation>auto（关）</translation>
    </message>
    <message>
        <source>on</source>
        <translation>开</translation>
    </message>
    <message>
        <source>off</source>
        <translation>关</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>%1 tokens a round</source>
        <translation>每轮 %1 个词元</translation>
    </message>
    <message numerus="yes">
        <source>%n layer(s) on the card</source>
        <translation>
            <numerusform>显卡上 %n 层</numerusform>
        </translation>
    </message>
    <message>
        <source>default</source>
        <translation>默认</translation>
    </message>
    <message>
        <source>this device has one memory pool</source>
        <translation>此设备只有一个内存池</translation>
    </message>
</context>
<context>
    <name>memwall::gui::ErrorBar</name>
    <message>
        <source>Choose another…</source>
        <translation>另选文件…</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Error</source>
        <translation>错误</translation>
    </message>
</context>
<context>
    <name>memwall::gui::ExplainPage</name>
    <message>
        <source>Explain</source>
        <translation>解释</translation>
    </message>
    <message>
        <source>Copy as text</source>
        <translation>复制为文本</translation>
    </message>
    <message>
        <source>Copy as JSON</source>
        <translation>复制为 JSON</translation>
    </message>
    <message>
        <source>Show in chart</source>
        <translation>在图中显示</translation>
    </message>
    <message>
        <source>Ledger</source>
        <translation>账本</translation>
    </message>
    <message>
        <source>every number, where it comes from</source>
        <translation>每个数字及其来源</translation>
    </message>
    <message>
        <source>Filter by item, formula or source</source>
        <translation>按条目、公式或来源筛选</translation>
    </message>
    <message>
        <source>Filter</source>
        <translation>筛选</translation>
    </message>
    <message>
        <source>Formula</source>
        <translation>公式</translation>
    </message>
    <message>
        <source>Inputs</source>
        <translation>输入</translation>
    </message>
    <message>
        <source>%1 bytes</source>
        <translation>%1 字节</translation>
    </message>
    <message>
        <source>%1, holds in %2 of 100 cases</source>
        <translation>%1，每 100 例中有 %2 例成立</translation>
    </message>
    <message>
        <source>basis: %1</source>
        <translation>依据：%1</translation>
    </message>
    <message>
        <source>sum of the lines below it</source>
        <translation>下列各行之和</translation>
    </message>
    <message>
        <source>ledger</source>
        <translation>账本</translation>
    </message>
    <message>
        <source>Parts</source>
        <translation>组成</translation>
    </message>
</context>
<context>
    <name>memwall::gui::ExplorePage</name>
    <message>
        <source>Explore</source>
        <translation>探索</translation>
    </message>
    <message>
        <source>Memory by class</source>
        <translation>内存分类</translation>
    </message>
    <message>
        <source>click a segment to see where it comes from</source>
        <translation>点击色块查看来源</translation>
    </message>
    <message>
        <source>Memory against context</source>
        <translation>内存与上下文</translation>
    </message>
    <message>
        <source>GiB</source>
        <translation>GiB</translation>
    </message>
    <message>
        <source>Decode speed against context</source>
        <translation>解码速度与上下文</translation>
    </message>
    <message>
        <source>tokens/s</source>
        <translation>词元/秒</translation>
    </message>
    <message>
        <source>Time to first token against prompt</source>
        <translation>首词元时间与提示长度</translation>
    </message>
    <message>
        <source>both axes logarithmic</source>
        <translation>双对数坐标</translation>
    </message>
    <message>
        <source>Roofline</source>
        <translation>屋顶线</translation>
    </message>
    <message>
        <source>uncertain</source>
        <translation>不确定</translation>
    </message>
    <message>
        <source>context, tokens</source>
        <translation>上下文，词元</translation>
    </message>
    <message>
        <source>memory, GiB</source>
        <translation>内存，GiB</translation>
    </message>
    <message>
        <source>budget %1</source>
        <translation>预算 %1</translation>
    </message>
    <message>
        <source>does not fit</source>
        <translation>放不下</translation>
    </message>
    <message>
        <source>largest %1</source>
        <translation>最大 %1</translation>
    </message>
    <message>
        <source>context %1, %2, %3 below the budget</source>
        <translation>上下文 %1，%2，低于预算 %3</translation>
    </message>
    <message>
        <source>context %1, %2, %3 above the budget</source>
        <translation>上下文 %1，%2，超出预算 %3</translation>
    </message>
    <message>
        <source>context %1, %2</source>
        <translation>上下文 %1，%2</translation>
    </message>
    <message>
        <source>No memory bandwidth or no prior is known for this processor, so no speed is given.</source>
        <translation>此处理器的内存带宽或先验未知，因此不给出速度。</translation>
    </message>
    <message>
        <source>tokens/s with the draft</source>
        <translation>词元/秒，含草稿</translation>
    </message>
    <message>
        <source>tokens/s, band = uncertainty</source>
        <translation>词元/秒，色带为不确定范围</translation>
    </message>
    <message>
        <source>uncertainty</source>
        <translation>不确定范围</translation>
    </message>
    <message>
        <source>measured</source>
        <translation>实测</translation>
    </message>
    <message>
        <source>context %1, %2 tokens/s</source>
        <translation>上下文 %1，%2 词元/秒</translation>
    </message>
    <message>
        <source>No compute peak is known for this processor, so no time to first token is given.</source>
        <translation>此处理器的算力峰值未知，因此不给出首词元时间。</translation>
    </message>
    <message>
        <source>seconds</source>
        <translation>秒</translation>
    </message>
    <message>
        <source>prompt, tokens</source>
        <translation>提示，词元</translation>
    </message>
    <message>
        <source>time to first token, s</source>
        <translation>首词元时间，秒</translation>
    </message>
    <message>
        <source>prompt of %1 tokens, first token after %2</source>
        <translation>提示 %1 词元，首词元在 %2 后</translation>
    </message>
    <message>
        <source>No memory bandwidth is known for this processor, so there is no roof.</source>
        <translation>此处理器的内存带宽未知，因此没有屋顶线。</translation>
    </message>
    <message>
        <source>operations a byte</source>
        <translation>每字节运算数</translation>
    </message>
    <message>
        <source>G operations/s</source>
        <translation>G 次运算/秒</translation>
    </message>
    <message>
        <source>roof</source>
        <translation>屋顶</translation>
    </message>
    <message>
        <source>reachable</source>
        <translation>可达</translation>
    </message>
    <message>
        <source>decode</source>
        <translation>解码</translation>
    </message>
    <message>
        <source>prefill</source>
        <translation>预填充</translation>
    </message>
    <message>
        <source>%1 peak</source>
        <translation>峰值 %1</translation>
    </message>
    <message>
        <source>decode is bound by %1</source>
        <translation>解码受限于 %1</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1，共 %2</translation>
    </message>
    <message>
        <source>G operations/s; dot area = share of time</source>
        <translation>G 次运算/秒；点面积为用时占比</translation>
    </message>
</context>
<context>
    <name>memwall::gui::FindBox</name>
    <message>
        <source>Find a model, a device, an action or a ledger line</source>
        <translation>查找模型、设备、操作或账本条目</translation>
    </message>
    <message>
        <source>Find</source>
        <translation>查找</translation>
    </message>
</context>
<context>
    <name>memwall::gui::Footer</name>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Equivalent command</source>
        <translation>等价命令</translation>
    </message>
    <message numerus="yes">
        <source>%n warning(s)</source>
        <translation>
            <numerusform>%n 条警告</numerusform>
        </translation>
    </message>
    <message>
        <source>planned in %1 ms</source>
        <translation>计算用时 %1 ms</translation>
    </message>
</context>
<context>
    <name>memwall::gui::LedgerModel</name>
    <message>
        <source>Item</source>
        <translation>条目</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>数值</translation>
    </message>
    <message>
        <source>Interval</source>
        <translation>区间</translation>
    </message>
    <message>
        <source>Basis</source>
        <translation>依据</translation>
    </message>
</context>
<context>
    <name>memwall::gui::LimitsPanel</name>
    <message>
        <source>Why not?</source>
        <translation>为什么不行？</translation>
    </message>
    <message>
        <source>clear</source>
        <translation>清除</translation>
    </message>
    <message>
        <source>Show this change</source>
        <translation>查看这一改动</translation>
    </message>
    <message>
        <source>Move the limits</source>
        <translation>放宽限制</translation>
    </message>
    <message>
        <source>Unpin all</source>
        <translation>取消全部固定</translation>
    </message>
    <message>
        <source>Limits</source>
        <translation>限制</translation>
    </message>
    <message>
        <source>drag here or in a chart</source>
        <translation>在此处或图中拖动</translation>
    </message>
    <message>
        <source>&amp;Memory at most</source>
        <translation>内存上限(&amp;M)</translation>
    </message>
    <message>
        <source>&amp;Job at most</source>
        <translation>任务时间上限(&amp;J)</translation>
    </message>
    <message>
        <source>&amp;Decode at least</source>
        <translation>解码下限(&amp;D)</translation>
    </message>
    <message>
        <source>Tokens &amp;kept at least</source>
        <translation>保留词元下限(&amp;K)</translation>
    </message>
    <message>
        <source>&amp;Score at least</source>
        <translation>得分下限(&amp;S)</translation>
    </message>
    <message>
        <source>Conte&amp;xt at least</source>
        <translation>上下文下限(&amp;X)</translation>
    </message>
    <message>
        <source>&amp;Candidates</source>
        <translation>候选(&amp;C)</translation>
    </message>
    <message>
        <source>Configurations of this model</source>
        <translation>此模型的各种配置</translation>
    </message>
    <message>
        <source>All models that fit</source>
        <translation>所有放得下的模型</translation>
    </message>
    <message>
        <source>What is compared</source>
        <translation>比较对象</translation>
    </message>
    <message>
        <source>Benchmark that quality is read from</source>
        <translation>作为质量依据的基准</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>搜索</translation>
    </message>
    <message>
        <source>Quality is the published score of the unquantized model; quantization can only take off it. Models without one are rings below.</source>
        <translation>质量取未量化模型的公开得分，量化只会使其降低。没有得分的模型以圆环列在底部。</translation>
    </message>
    <message>
        <source>Quality is the share of tokens that stay what the unquantized model says.</source>
        <translation>质量指与未量化模型一致的词元所占比例。</translation>
    </message>
    <message>
        <source>any</source>
        <translation>不限</translation>
    </message>
    <message>
        <source>searched in %1 ms</source>
        <translation>搜索用时 %1 ms</translation>
    </message>
    <message>
        <source>decided in %1 ms</source>
        <translation>决策用时 %1 ms</translation>
    </message>
    <message>
        <source>Point at an excluded candidate (a ring) and press W.</source>
        <translation>指向一个被排除的候选（圆环），按 W。</translation>
    </message>
    <message>
        <source>Admitted</source>
        <translation>符合</translation>
    </message>
    <message>
        <source>%1 is on the front: nothing beats it.</source>
        <translation>%1 位于前沿：没有更好的。</translation>
    </message>
    <message>
        <source>%1 is admitted; others beat it in every goal.</source>
        <translation>%1 符合限制，但有其他配置在各项上都更好。</translation>
    </message>
    <message>
        <source>Why not %1?</source>
        <translation>为什么不选 %1？</translation>
    </message>
    <message>
        <source>Smallest change that is admitted: %1</source>
        <translation>可行的最小改动：%1</translation>
    </message>
    <message>
        <source>Or as it is, with %1</source>
        <translation>或保持不变，但改为：%1</translation>
    </message>
    <message>
        <source>No change of its options or of the limits admits it.</source>
        <translation>无论改动选项还是限制都无法使其可行。</translation>
    </message>
    <message>
        <source>%1 models</source>
        <translation>%1 个模型</translation>
    </message>
</context>
<context>
    <name>memwall::gui::MainWindow</name>
    <message>
        <source>&amp;Undo</source>
        <translation>撤销(&amp;U)</translation>
    </message>
    <message>
        <source>&amp;Redo</source>
        <translation>重做(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Open…</source>
        <translation>打开(&amp;O)…</translation>
    </message>
    <message>
        <source>&amp;Save deployment…</source>
        <translation>保存部署(&amp;S)…</translation>
    </message>
    <message>
        <source>&amp;Export…</source>
        <translation>导出(&amp;E)…</translation>
    </message>
    <message>
        <source>&amp;Find</source>
        <translation>查找(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Copy command</source>
        <translation>复制命令(&amp;C)</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>帮助(&amp;H)</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>退出(&amp;Q)</translation>
    </message>
    <message>
        <source>Numbers as CSV…</source>
        <translation>数据存为 CSV…</translation>
    </message>
    <message>
        <source>Picture as SVG…</source>
        <translation>图片存为 SVG…</translation>
    </message>
    <message>
        <source>Picture as PNG…</source>
        <translation>图片存为 PNG…</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>外观</translation>
    </message>
    <message>
        <source>System</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>&amp;About</source>
        <translation>关于(&amp;A)</translation>
    </message>
    <message>
        <source>More</source>
        <translation>更多</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Find</source>
        <translation>查找</translation>
    </message>
    <message>
        <source>Open a model, a deployment or a device</source>
        <translation>打开模型、部署或设备</translation>
    </message>
    <message>
        <source>Models, deployments and devices (*.gguf *.json *.safetensors *.yaml *.yml)</source>
        <translation>模型、部署与设备 (*.gguf *.json *.safetensors *.yaml *.yml)</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>所有文件 (*)</translation>
    </message>
    <message>
        <source>Save the deployment</source>
        <translation>保存部署</translation>
    </message>
    <message>
        <source>Deployments (*.yaml)</source>
        <translation>部署 (*.yaml)</translation>
    </message>
    <message>
        <source>Export what is on screen</source>
        <translation>导出当前画面</translation>
    </message>
    <message>
        <source>page</source>
        <translation>页面</translation>
    </message>
    <message>
        <source>action</source>
        <translation>操作</translation>
    </message>
    <message>
        <source>model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>按键</translation>
    </message>
    <message>
        <source>pages</source>
        <translation>页面</translation>
    </message>
    <message>
        <source>find models, devices, actions, ledger lines</source>
        <translation>查找模型、设备、操作、账本条目</translation>
    </message>
    <message>
        <source>open, save the deployment, export</source>
        <translation>打开、保存部署、导出</translation>
    </message>
    <message>
        <source>undo, redo</source>
        <translation>撤销、重做</translation>
    </message>
    <message>
        <source>copy the equivalent command</source>
        <translation>复制等价命令</translation>
    </message>
    <message>
        <source>to the control with that letter underlined</source>
        <translation>转到带该下划线字母的控件</translation>
    </message>
    <message>
        <source>in a chart: the cursor by one stop; with Shift a fine step</source>
        <translation>图中：光标移动一档；按住 Shift 微调</translation>
    </message>
    <message>
        <source>in a chart: the next series or candidate</source>
        <translation>图中：下一条曲线或候选</translation>
    </message>
    <message>
        <source>pin a candidate; open it in Explore</source>
        <translation>固定候选；在“探索”中打开</translation>
    </message>
    <message>
        <source>why not; constraints; leave</source>
        <translation>为什么不行；约束；离开</translation>
    </message>
    <message>
        <source>zoom, whole range</source>
        <translation>缩放、全部范围</translation>
    </message>
    <message>
        <source>the chart as a table</source>
        <translation>以表格显示图表</translation>
    </message>
    <message>
        <source>Hatched parts and bands are uncertain; what is solid is exact. Every number opens its line in the ledger: formula, inputs and sources.</source>
        <translation>斜线部分和色带是不确定的；实色部分是精确的。每个数字都能打开它在账本中的条目：公式、输入与来源。</translation>
    </message>
    <message>
        <source>About</source>
        <translation>关于</translation>
    </message>
    <message>
        <source>Does this model fit this device, how fast will it be, and how good will it stay?

Catalogues of %1. With Qt %2.

This program is free software under the GNU General Public License, version 3, because Qt Charts is; the memwall library and command are under Apache-2.0.</source>
        <translation>这个模型在这台设备上放得下吗，有多快，质量还剩多少？

目录日期 %1。使用 Qt %2。

本程序是自由软件，因 Qt Charts 之故采用 GNU 通用公共许可证第 3 版；memwall 库与命令采用 Apache-2.0。</translation>
    </message>
</context>
<context>
    <name>memwall::gui::MemoryBar</name>
    <message>
        <source>Weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation>KV 缓存</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>Buffers</source>
        <translation>缓冲</translation>
    </message>
    <message>
        <source>Draft</source>
        <translation>草稿</translation>
    </message>
    <message>
        <source>Overhead</source>
        <translation>固定开销</translation>
    </message>
    <message>
        <source>Memory by class</source>
        <translation>内存分类</translation>
    </message>
    <message>
        <source>budget %1</source>
        <translation>预算 %1</translation>
    </message>
    <message>
        <source>system and other apps</source>
        <translation>系统与其他应用</translation>
    </message>
    <message>
        <source>headroom</source>
        <translation>余量</translation>
    </message>
    <message>
        <source>needs %1</source>
        <translation>需要 %1</translation>
    </message>
    <message>
        <source>uncertain</source>
        <translation>不确定</translation>
    </message>
    <message>
        <source>%1: %2 bytes
Click to see where it comes from</source>
        <translation>%1：%2 字节
点击查看来源</translation>
    </message>
</context>
<context>
    <name>memwall::gui::MetricsModel</name>
    <message>
        <source>Metric</source>
        <translation>指标</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>数值</translation>
    </message>
</context>
<context>
    <name>memwall::gui::PairedBars</name>
    <message>
        <source>Predicted and achieved</source>
        <translation>预测与实测</translation>
    </message>
    <message>
        <source>%1 %2: predicted %3, achieved %4, %5</source>
        <translation>%1 %2：预测 %3，实测 %4，%5</translation>
    </message>
</context>
<context>
    <name>memwall::gui::PinnedModel</name>
    <message>
        <source>unknown</source>
        <translation>未知</translation>
    </message>
    <message>
        <source> +draft</source>
        <translation> +草稿</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Recipe</source>
        <translation>量化方案</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>上下文</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>Decode</source>
        <translation>解码</translation>
    </message>
    <message>
        <source>First token</source>
        <translation>首词元</translation>
    </message>
    <message>
        <source>Job</source>
        <translation>任务时间</translation>
    </message>
    <message>
        <source>Quality</source>
        <translation>质量</translation>
    </message>
</context>
<context>
    <name>memwall::gui::PinnedTable</name>
    <message>
        <source>Pinned configurations</source>
        <translation>固定的配置</translation>
    </message>
</context>
<context>
    <name>memwall::gui::Plot</name>
    <message>
        <source>%1: cannot be written: %2</source>
        <translation>%1：无法写入：%2</translation>
    </message>
    <message>
        <source>%1, low</source>
        <translation>%1，下限</translation>
    </message>
    <message>
        <source>%1, high</source>
        <translation>%1，上限</translation>
    </message>
    <message>
        <source>series</source>
        <translation>曲线</translation>
    </message>
</context>
<context>
    <name>memwall::gui::ProbesModel</name>
    <message>
        <source>95 % interval %1 to %2</source>
        <translation>95 % 区间 %1 至 %2</translation>
    </message>
    <message>
        <source>%1 (%2 disturbed)</source>
        <translation>%1（%2 受干扰）</translation>
    </message>
    <message>
        <source>Probe</source>
        <translation>探测</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>线程</translation>
    </message>
    <message>
        <source>Median</source>
        <translation>中位数</translation>
    </message>
    <message>
        <source>Samples</source>
        <translation>样本</translation>
    </message>
</context>
<context>
    <name>memwall::gui::ResultStrip</name>
    <message>
        <source>memory bound</source>
        <translation>受限于内存带宽</translation>
    </message>
    <message>
        <source>compute bound</source>
        <translation>受限于算力</translation>
    </message>
    <message>
        <source>unpacking bound</source>
        <translation>受限于解包</translation>
    </message>
    <message>
        <source>overhead bound</source>
        <translation>受限于固定开销</translation>
    </message>
    <message>
        <source>storage bound</source>
        <translation>受限于存储</translation>
    </message>
    <message>
        <source>bound by the host</source>
        <translation>受限于主机</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>结论</translation>
    </message>
    <message>
        <source>Fits</source>
        <translation>放得下</translation>
    </message>
    <message>
        <source>Does not fit</source>
        <translation>放不下</translation>
    </message>
    <message>
        <source>Too close to call</source>
        <translation>难以判定</translation>
    </message>
    <message>
        <source>Unsupported</source>
        <translation>不支持</translation>
    </message>
    <message>
        <source>%1 too much</source>
        <translation>超出 %1</translation>
    </message>
    <message>
        <source>%1 to spare</source>
        <translation>剩余 %1</translation>
    </message>
    <message>
        <source>Decode with the draft</source>
        <translation>解码（含草稿）</translation>
    </message>
    <message>
        <source>Decode</source>
        <translation>解码</translation>
    </message>
    <message>
        <source>no bandwidth known</source>
        <translation>带宽未知</translation>
    </message>
    <message>
        <source>%1 tok/s</source>
        <translation>%1 tok/s</translation>
    </message>
    <message>
        <source>no compute peak known</source>
        <translation>算力峰值未知</translation>
    </message>
    <message>
        <source>measured</source>
        <translation>实测</translation>
    </message>
    <message>
        <source>interpolated</source>
        <translation>内插</translation>
    </message>
    <message>
        <source>estimated</source>
        <translation>估计</translation>
    </message>
    <message>
        <source>only a bound</source>
        <translation>只有界限</translation>
    </message>
    <message>
        <source>not estimated</source>
        <translation>不作估计</translation>
    </message>
    <message>
        <source>Largest context</source>
        <translation>最大上下文</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>does not fit at any context</source>
        <translation>任何上下文都放不下</translation>
    </message>
    <message>
        <source>tokens, all it was trained for</source>
        <translation>词元，已达训练长度</translation>
    </message>
    <message>
        <source>tokens of %1 trained</source>
        <translation>词元，训练长度 %1</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>词元</translation>
    </message>
    <message>
        <source>First token, %1</source>
        <translation>首词元，提示 %1</translation>
    </message>
    <message>
        <source>Tokens kept of F16</source>
        <translation>相对 F16 保留的词元</translation>
    </message>
</context>
<context>
    <name>memwall::gui::SimulatePage</name>
    <message>
        <source>Memory over time</source>
        <translation>内存随时间变化</translation>
    </message>
    <message>
        <source>GiB</source>
        <translation>GiB</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>温度</translation>
    </message>
    <message>
        <source>Time to first token</source>
        <translation>首词元时间</translation>
    </message>
    <message>
        <source>requests</source>
        <translation>请求数</translation>
    </message>
    <message>
        <source>Battery</source>
        <translation>电量</translation>
    </message>
    <message>
        <source>Metrics</source>
        <translation>指标</translation>
    </message>
    <message>
        <source>point at one for its definition</source>
        <translation>指向任一项可看其定义</translation>
    </message>
    <message>
        <source>Press Run.</source>
        <translation>请按“运行”。</translation>
    </message>
    <message>
        <source>Stopped: the numbers are those of the time simulated until then.</source>
        <translation>已停止：数字只含此前模拟的时间。</translation>
    </message>
    <message>
        <source>simulated in %1 ms</source>
        <translation>仿真用时 %1 ms</translation>
    </message>
    <message>
        <source>S&amp;cenario</source>
        <translation>场景(&amp;C)</translation>
    </message>
    <message>
        <source>Open a scenario &amp;file…</source>
        <translation>打开场景文件(&amp;F)…</translation>
    </message>
    <message>
        <source>&amp;Deployed as in the scenario</source>
        <translation>按场景自带的部署(&amp;D)</translation>
    </message>
    <message>
        <source>the scenario&apos;s</source>
        <translation>按场景</translation>
    </message>
    <message>
        <source>Random &amp;seed</source>
        <translation>随机种子(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Replications</source>
        <translation>重复次数(&amp;R)</translation>
    </message>
    <message>
        <source>several give intervals; they run on all cores</source>
        <translation>多次运行可给出区间，并使用所有核心</translation>
    </message>
    <message>
        <source>R&amp;un</source>
        <translation>运行(&amp;U)</translation>
    </message>
    <message>
        <source>Simulation</source>
        <translation>仿真</translation>
    </message>
    <message>
        <source>&amp;Events</source>
        <translation>事件(&amp;E)</translation>
    </message>
    <message>
        <source>Events</source>
        <translation>事件</translation>
    </message>
    <message>
        <source>Untick to simulate what the window shows instead.</source>
        <translation>取消勾选则改用窗口中的部署。</translation>
    </message>
    <message>
        <source>Open a scenario</source>
        <translation>打开场景</translation>
    </message>
    <message>
        <source>Scenarios (*.yaml *.yml)</source>
        <translation>场景 (*.yaml *.yml)</translation>
    </message>
    <message>
        <source>&amp;Stop</source>
        <translation>停止(&amp;S)</translation>
    </message>
    <message>
        <source>simulating…</source>
        <translation>正在仿真…</translation>
    </message>
    <message>
        <source>system</source>
        <translation>系统</translation>
    </message>
    <message>
        <source>other apps</source>
        <translation>其他应用</translation>
    </message>
    <message>
        <source>weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation>KV 缓存</translation>
    </message>
    <message>
        <source>compute</source>
        <translation>计算缓冲</translation>
    </message>
    <message>
        <source>time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>memory, GiB</source>
        <translation>内存，GiB</translation>
    </message>
    <message>
        <source>RAM %1</source>
        <translation>内存 %1</translation>
    </message>
    <message>
        <source>peak %1</source>
        <translation>峰值 %1</translation>
    </message>
    <message>
        <source>peak %1 by %2</source>
        <translation>峰值 %1，来自 %2</translation>
    </message>
    <message>
        <source>GiB · %1 on %2</source>
        <translation>GiB · %1，%2</translation>
    </message>
    <message>
        <source>This scenario does not simulate heat.</source>
        <translation>此场景不模拟发热。</translation>
    </message>
    <message>
        <source>This device runs from the wall.</source>
        <translation>此设备使用外接电源。</translation>
    </message>
    <message>
        <source>temperature, °C</source>
        <translation>温度，°C</translation>
    </message>
    <message>
        <source>battery, %</source>
        <translation>电量，%</translation>
    </message>
    <message>
        <source>%1 °C: slower from here</source>
        <translation>%1 °C 起降频</translation>
    </message>
    <message>
        <source>No request had a first token.</source>
        <translation>没有请求得到首词元。</translation>
    </message>
    <message>
        <source>seconds to the first token</source>
        <translation>首词元秒数</translation>
    </message>
    <message>
        <source>asked %1</source>
        <translation>要求 %1</translation>
    </message>
    <message>
        <source>%1 requests</source>
        <translation>%1 个请求</translation>
    </message>
    <message>
        <source>half within %1, 95 % within %2</source>
        <translation>半数在 %1 内，95 % 在 %2 内</translation>
    </message>
    <message>
        <source>loaded in %1</source>
        <translation>加载用时 %1</translation>
    </message>
    <message>
        <source>model left memory</source>
        <translation>模型离开内存</translation>
    </message>
    <message>
        <source>heat: down to %1 % speed</source>
        <translation>发热：降至 %1 % 速度</translation>
    </message>
    <message>
        <source>battery empty, off for %1</source>
        <translation>电量耗尽，关机 %1</translation>
    </message>
    <message>
        <source>%1: model %2, other apps %3, %4 running</source>
        <translation>%1：模型 %2，其他应用 %3，运行中 %4</translation>
    </message>
    <message>
        <source>First token, p95</source>
        <translation>首词元 p95</translation>
    </message>
    <message>
        <source>%1 asked · p50 %2</source>
        <translation>要求 %1 · p50 %2</translation>
    </message>
    <message>
        <source>p50 %1</source>
        <translation>p50 %1</translation>
    </message>
    <message>
        <source>Requests</source>
        <translation>请求</translation>
    </message>
    <message>
        <source>%1 refused · %2 unfinished</source>
        <translation>%1 被拒 · %2 未完成</translation>
    </message>
    <message>
        <source>Peak memory</source>
        <translation>内存峰值</translation>
    </message>
    <message>
        <source>at %1</source>
        <translation>%1</translation>
    </message>
    <message>
        <source>Hottest</source>
        <translation>最高温度</translation>
    </message>
    <message>
        <source>slower for %1</source>
        <translation>降频 %1</translation>
    </message>
    <message>
        <source>never slowed</source>
        <translation>未降频</translation>
    </message>
    <message>
        <source>Loads</source>
        <translation>加载</translation>
    </message>
    <message>
        <source>%1 in total</source>
        <translation>共 %1</translation>
    </message>
    <message>
        <source>Energy</source>
        <translation>耗电</translation>
    </message>
    <message>
        <source>battery at the end %1 %</source>
        <translation>结束时电量 %1 %</translation>
    </message>
    <message>
        <source>from the wall</source>
        <translation>外接电源</translation>
    </message>
    <message>
        <source>Busy</source>
        <translation>忙碌</translation>
    </message>
    <message>
        <source>of the time</source>
        <translation>的时间</translation>
    </message>
    <message>
        <source>Simulate</source>
        <translation>仿真</translation>
    </message>
</context>
<context>
    <name>memwall::gui::Suggestions</name>
    <message>
        <source>Changes that would help</source>
        <translation>有帮助的更改</translation>
    </message>
    <message>
        <source>It fits as it is.</source>
        <translation>现在就放得下。</translation>
    </message>
    <message>
        <source>No single change makes it fit.</source>
        <translation>没有单项更改能让它放得下。</translation>
    </message>
</context>
<context>
    <name>memwall::gui::Triangle</name>
    <message>
        <source>memory at most %1</source>
        <translation>内存至多 %1</translation>
    </message>
    <message>
        <source>decode at least %1 tok/s</source>
        <translation>解码至少 %1 tok/s</translation>
    </message>
    <message>
        <source>first token within %1</source>
        <translation>首词元不超过 %1</translation>
    </message>
    <message>
        <source>job within %1</source>
        <translation>任务不超过 %1</translation>
    </message>
    <message>
        <source>load within %1</source>
        <translation>加载不超过 %1</translation>
    </message>
    <message>
        <source>at most %1 J a token</source>
        <translation>每词元至多 %1 J</translation>
    </message>
    <message>
        <source>context at least %1</source>
        <translation>上下文至少 %1</translation>
    </message>
    <message>
        <source>tokens kept at least %1</source>
        <translation>保留词元至少 %1</translation>
    </message>
    <message>
        <source>score at least %1</source>
        <translation>得分至少 %1</translation>
    </message>
    <message>
        <source>unknown quality allowed</source>
        <translation>允许质量未知</translation>
    </message>
    <message>
        <source>as stored</source>
        <translation>按文件所存</translation>
    </message>
    <message>
        <source> +draft</source>
        <translation> +草稿</translation>
    </message>
    <message>
        <source>latency and memory agree here</source>
        <translation>此处时延与内存一致</translation>
    </message>
    <message>
        <source>latency and quality agree here</source>
        <translation>此处时延与质量一致</translation>
    </message>
    <message>
        <source>memory and quality agree here</source>
        <translation>此处内存与质量一致</translation>
    </message>
    <message>
        <source>the runtime or the device cannot run it</source>
        <translation>运行时或设备无法运行</translation>
    </message>
    <message>
        <source>needs %1, the device gives %2</source>
        <translation>需要 %1，设备只有 %2</translation>
    </message>
    <message>
        <source>needs %1 to %2 of %3: too close to call</source>
        <translation>需要 %1 至 %2，共 %3：难以判定</translation>
    </message>
    <message>
        <source>needs %1, the limit is %2</source>
        <translation>需要 %1，限制为 %2</translation>
    </message>
    <message>
        <source>decodes %1 tok/s, %2 asked</source>
        <translation>解码 %1 tok/s，要求 %2</translation>
    </message>
    <message>
        <source>first token after %1, the limit is %2</source>
        <translation>首词元需 %1，限制为 %2</translation>
    </message>
    <message>
        <source>the job takes %1, the limit is %2</source>
        <translation>任务需 %1，限制为 %2</translation>
    </message>
    <message>
        <source>holds %1 tokens, %2 asked</source>
        <translation>可容 %1 词元，要求 %2</translation>
    </message>
    <message>
        <source>keeps %1 % of tokens, %2 % asked</source>
        <translation>保留 %1 % 的词元，要求 %2 %</translation>
    </message>
    <message>
        <source>quality unknown: %1</source>
        <translation>质量未知：%1</translation>
    </message>
    <message>
        <source>speed unknown</source>
        <translation>速度未知</translation>
    </message>
    <message>
        <source>loads in %1, the limit is %2</source>
        <translation>加载需 %1，限制为 %2</translation>
    </message>
    <message>
        <source>takes %1 J a token, the limit is %2</source>
        <translation>每词元 %1 J，限制为 %2</translation>
    </message>
    <message>
        <source>no published score</source>
        <translation>无公开得分</translation>
    </message>
    <message>
        <source>scores %1, %2 asked</source>
        <translation>得分 %1，要求 %2</translation>
    </message>
</context>
<context>
    <name>memwall::gui::TrianglePage</name>
    <message>
        <source>Balance</source>
        <translation>平衡</translation>
    </message>
    <message>
        <source>where a plan is strong</source>
        <translation>方案的长处所在</translation>
    </message>
    <message>
        <source>Job time</source>
        <translation>任务时间</translation>
    </message>
    <message>
        <source>against memory, GiB</source>
        <translation>对内存，GiB</translation>
    </message>
    <message>
        <source>Quality</source>
        <translation>质量</translation>
    </message>
    <message>
        <source>against job time</source>
        <translation>对任务时间</translation>
    </message>
    <message>
        <source>Under the pointer</source>
        <translation>指针所指</translation>
    </message>
    <message>
        <source>Pinned</source>
        <translation>已固定</translation>
    </message>
    <message>
        <source>differences from A beside each number; the best in a column is bold</source>
        <translation>数字旁为与 A 之差；每列最优者加粗</translation>
    </message>
    <message>
        <source>Click a point, or press Enter on it, to pin it here: up to six, A to F.</source>
        <translation>点击一个点，或在其上按回车，即可固定于此：最多六个，A 至 F。</translation>
    </message>
    <message>
        <source>Searching…</source>
        <translation>正在搜索…</translation>
    </message>
    <message>
        <source>No configuration of this model can be planned on this device.</source>
        <translation>此模型在此设备上没有可规划的配置。</translation>
    </message>
    <message>
        <source>memory, GiB</source>
        <translation>内存，GiB</translation>
    </message>
    <message>
        <source>job time, s</source>
        <translation>任务时间，秒</translation>
    </message>
    <message>
        <source>tokens kept, %</source>
        <translation>保留词元，%</translation>
    </message>
    <message>
        <source>Tokens kept</source>
        <translation>保留词元</translation>
    </message>
    <message>
        <source>%1 + %2 tokens, against GiB</source>
        <translation>%1 + %2 词元，对 GiB</translation>
    </message>
    <message>
        <source>excluded</source>
        <translation>被排除</translation>
    </message>
    <message>
        <source>admitted</source>
        <translation>符合</translation>
    </message>
    <message>
        <source>front</source>
        <translation>前沿</translation>
    </message>
    <message>
        <source>Latency</source>
        <translation>时延</translation>
    </message>
    <message>
        <source>job done soon</source>
        <translation>任务完成快</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>small footprint</source>
        <translation>占用小</translation>
    </message>
    <message>
        <source>best score</source>
        <translation>得分最高</translation>
    </message>
    <message>
        <source>closest to the original</source>
        <translation>最接近原模型</translation>
    </message>
    <message>
        <source>%1: any</source>
        <translation>%1：不限</translation>
    </message>
    <message>
        <source>memory at most</source>
        <translation>内存至多</translation>
    </message>
    <message>
        <source>job at most</source>
        <translation>任务时间至多</translation>
    </message>
    <message>
        <source>quality at least</source>
        <translation>质量至少</translation>
    </message>
    <message>
        <source>Nearest to the wanted balance</source>
        <translation>最接近期望的平衡</translation>
    </message>
    <message>
        <source>Nothing is admitted</source>
        <translation>没有符合的配置</translation>
    </message>
    <message>
        <source>Move a limit: lines and sliders show what they exclude.</source>
        <translation>请移动限制：线条与滑块会显示被排除者。</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 词元</translation>
    </message>
    <message>
        <source>draft %1</source>
        <translation>草稿模型 %1</translation>
    </message>
    <message>
        <source>spills to the host</source>
        <translation>溢出到主机内存</translation>
    </message>
    <message>
        <source>Job</source>
        <translation>任务时间</translation>
    </message>
    <message>
        <source>First token</source>
        <translation>首词元</translation>
    </message>
    <message>
        <source>Decode</source>
        <translation>解码</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>未知</translation>
    </message>
    <message>
        <source>quantized: lower, by how much is not measured</source>
        <translation>量化后更低，幅度未测</translation>
    </message>
    <message>
        <source>quantized: at most %1 lower</source>
        <translation>量化后至多低 %1 分</translation>
    </message>
    <message>
        <source>Reported by</source>
        <translation>公布者</translation>
    </message>
    <message>
        <source>no published score</source>
        <translation>无公开得分</translation>
    </message>
    <message>
        <source>Enter pins it · Space opens it in Explore</source>
        <translation>回车固定 · 空格在“探索”中打开</translation>
    </message>
    <message>
        <source>Excluded · W says why not</source>
        <translation>被排除 · 按 W 看原因</translation>
    </message>
    <message>
        <source>%1, %2, memory %3, job %4</source>
        <translation>%1，%2，内存 %3，任务 %4</translation>
    </message>
    <message>
        <source>All six pins are in use: unpin one first.</source>
        <translation>六个固定位已满：请先取消一个。</translation>
    </message>
    <message>
        <source>speed unknown</source>
        <translation>速度未知</translation>
    </message>
    <message>
        <source>context %1</source>
        <translation>上下文 %1</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>nothing is admitted</source>
        <translation>没有符合的</translation>
    </message>
    <message>
        <source>Candidates</source>
        <translation>候选</translation>
    </message>
    <message>
        <source>in %1 ms</source>
        <translation>用时 %1 ms</translation>
    </message>
    <message>
        <source>Admitted</source>
        <translation>符合</translation>
    </message>
    <message>
        <source>%1 excluded</source>
        <translation>排除 %1</translation>
    </message>
    <message>
        <source>On the front</source>
        <translation>位于前沿</translation>
    </message>
    <message>
        <source>nothing beats these</source>
        <translation>没有更好的</translation>
    </message>
    <message>
        <source>Tightest limit</source>
        <translation>最紧的限制</translation>
    </message>
    <message>
        <source>drag a line in a chart</source>
        <translation>可在图中拖动线条</translation>
    </message>
    <message>
        <source>alone excludes %1</source>
        <translation>单独排除 %1</translation>
    </message>
    <message>
        <source>Triangle</source>
        <translation>三角</translation>
    </message>
    <message>
        <source>Nearest plan</source>
        <translation>最接近的方案</translation>
    </message>
</context>
<context>
    <name>memwall::gui::VerificationModel</name>
    <message>
        <source>host</source>
        <translation>本机</translation>
    </message>
    <message>
        <source>holds</source>
        <translation>成立</translation>
    </message>
    <message>
        <source>missed</source>
        <translation>未中</translation>
    </message>
    <message>
        <source>inconclusive</source>
        <translation>无定论</translation>
    </message>
    <message>
        <source>measured</source>
        <translation>实测</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>What</source>
        <translation>项目</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>上下文</translation>
    </message>
    <message>
        <source>Predicted</source>
        <translation>预测</translation>
    </message>
    <message>
        <source>Achieved</source>
        <translation>实测</translation>
    </message>
    <message>
        <source>95 % interval</source>
        <translation>95 % 区间</translation>
    </message>
    <message>
        <source>Ratio</source>
        <translation>比值</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>结论</translation>
    </message>
</context>
<context>
    <name>memwall::gui::VerifyPage</name>
    <message>
        <source>three contexts, three KV types</source>
        <translation>三种上下文、三种 KV 类型</translation>
    </message>
    <message>
        <source>one context, three KV types</source>
        <translation>一种上下文、三种 KV 类型</translation>
    </message>
    <message>
        <source>one context, f16</source>
        <translation>一种上下文、f16</translation>
    </message>
    <message>
        <source>Predicted and achieved</source>
        <translation>预测与实测</translation>
    </message>
    <message>
        <source>outline = predicted, solid = achieved; whiskers = intervals; each row has its own scale</source>
        <translation>空心为预测，实心为实测，须线为区间；各行比例不同</translation>
    </message>
    <message>
        <source>What this machine does</source>
        <translation>本机实测能力</translation>
    </message>
    <message>
        <source>The row in words</source>
        <translation>该行说明</translation>
    </message>
    <message>
        <source>Verify runs the project&apos;s own engine on this machine and holds each prediction against it: bytes allocated, resident memory, bandwidth, decode and first token.

Calibrate first, then verify. Close other programs: a disturbed machine proves nothing.</source>
        <translation>验证会在本机运行项目自带的引擎，并逐项对照预测：分配的字节、常驻内存、带宽、解码与首词元。

请先校准，再验证。请关闭其他程序：受干扰的机器证明不了什么。</translation>
    </message>
    <message>
        <source>Saved to %1.</source>
        <translation>已保存到 %1。</translation>
    </message>
    <message>
        <source>%1 · %2 %</source>
        <translation>%1 · %2 %</translation>
    </message>
    <message>
        <source>1. Calibrate</source>
        <translation>1. 校准</translation>
    </message>
    <message>
        <source>Measures bandwidth, peak rates, barriers and storage. Plans for this machine then use what was measured.</source>
        <translation>测量带宽、峰值算力、同步与存储；此后对本机的规划即采用实测值。</translation>
    </message>
    <message>
        <source> s</source>
        <translation> 秒</translation>
    </message>
    <message>
        <source>&amp;Time to take</source>
        <translation>用时(&amp;T)</translation>
    </message>
    <message>
        <source>Cali&amp;brate</source>
        <translation>校准(&amp;B)</translation>
    </message>
    <message>
        <source>Use as the &amp;device</source>
        <translation>用作设备(&amp;D)</translation>
    </message>
    <message>
        <source>2. Verify</source>
        <translation>2. 验证</translation>
    </message>
    <message>
        <source>three small models</source>
        <translation>三个小模型</translation>
    </message>
    <message>
        <source>&amp;Models</source>
        <translation>模型(&amp;M)</translation>
    </message>
    <message>
        <source>&amp;Extent</source>
        <translation>范围(&amp;E)</translation>
    </message>
    <message>
        <source>&amp;Samples of every item</source>
        <translation>每项样本数(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Verify</source>
        <translation>验证(&amp;V)</translation>
    </message>
    <message>
        <source>Measurement</source>
        <translation>测量</translation>
    </message>
    <message>
        <source>&amp;Cancel</source>
        <translation>取消(&amp;C)</translation>
    </message>
    <message>
        <source>cancelled</source>
        <translation>已取消</translation>
    </message>
    <message>
        <source>No folder to save a profile in.</source>
        <translation>没有可保存配置的文件夹。</translation>
    </message>
    <message>
        <source>A profile of this machine is in %1.</source>
        <translation>本机配置位于 %1。</translation>
    </message>
    <message>
        <source>Will be saved as %1.</source>
        <translation>将保存为 %1。</translation>
    </message>
    <message>
        <source>Not calibrated yet: plans for this machine rest on what its class usually does.</source>
        <translation>尚未校准：对本机的规划依据同类设备的常见水平。</translation>
    </message>
    <message>
        <source>%1 · %2 · threads: %3 · pages: %4</source>
        <translation>%1 · %2 · 线程：%3 · 页：%4</translation>
    </message>
    <message>
        <source>Choose a row; Enter opens its line in the ledger.</source>
        <translation>请选择一行；回车打开其账目。</translation>
    </message>
    <message>
        <source>Predicted %1, and said %2 to %3.</source>
        <translation>预测 %1，区间 %2 至 %3。</translation>
    </message>
    <message>
        <source>Predicted exactly %1.</source>
        <translation>精确预测 %1。</translation>
    </message>
    <message>
        <source>Nothing was predicted: this is an input of the predictions.</source>
        <translation>无预测：此项是预测的输入。</translation>
    </message>
    <message>
        <source>Achieved %1; the median lies between %2 and %3 (samples: %4).</source>
        <translation>实测 %1；中位数介于 %2 与 %3（样本 %4）。</translation>
    </message>
    <message>
        <source>Achieved %1.</source>
        <translation>实测 %1。</translation>
    </message>
    <message>
        <source>Disturbed samples: %1.</source>
        <translation>受干扰的样本：%1。</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>结论</translation>
    </message>
    <message>
        <source>not verified</source>
        <translation>尚未验证</translation>
    </message>
    <message>
        <source>press Verify</source>
        <translation>请按“验证”</translation>
    </message>
    <message>
        <source>Predictions hold</source>
        <translation>预测成立</translation>
    </message>
    <message>
        <source>%1 missed</source>
        <translation>%1 项未中</translation>
    </message>
    <message>
        <source>Inconclusive</source>
        <translation>无定论</translation>
    </message>
    <message>
        <source>the machine was not quiet</source>
        <translation>机器不够安静</translation>
    </message>
    <message>
        <source>%1 of %2 hold</source>
        <translation>%2 项中 %1 项成立</translation>
    </message>
    <message>
        <source>Hold</source>
        <translation>成立</translation>
    </message>
    <message>
        <source>of %1 predictions</source>
        <translation>共 %1 项预测</translation>
    </message>
    <message>
        <source>Missed</source>
        <translation>未中</translation>
    </message>
    <message>
        <source>outside their own interval</source>
        <translation>超出自身区间</translation>
    </message>
    <message>
        <source>%1 of %2 samples disturbed</source>
        <translation>%2 个样本中 %1 个受干扰</translation>
    </message>
    <message>
        <source>Read bandwidth</source>
        <translation>读带宽</translation>
    </message>
    <message>
        <source>Verify</source>
        <translation>验证</translation>
    </message>
</context>
<context>
    <name>vocabulary</name>
    <message>
        <source>read bandwidth</source>
        <translation>读带宽</translation>
    </message>
    <message>
        <source>allocated weights</source>
        <translation>权重分配</translation>
    </message>
    <message>
        <source>allocated cache</source>
        <translation>缓存分配</translation>
    </message>
    <message>
        <source>allocated activations</source>
        <translation>激活分配</translation>
    </message>
    <message>
        <source>resident</source>
        <translation>常驻内存</translation>
    </message>
    <message>
        <source>decode</source>
        <translation>解码</translation>
    </message>
    <message>
        <source>first token</source>
        <translation>首词元</translation>
    </message>
    <message>
        <source>measured</source>
        <translation>实测</translation>
    </message>
    <message>
        <source>interpolated</source>
        <translation>内插</translation>
    </message>
    <message>
        <source>estimated</source>
        <translation>估计</translation>
    </message>
    <message>
        <source>bounded</source>
        <translation>有界</translation>
    </message>
    <message>
        <source>refused</source>
        <translation>拒绝</translation>
    </message>
    <message>
        <source>measured on x86, llama.cpp 0.5.0</source>
        <translation>在 x86 上实测，llama.cpp 0.5.0</translation>
    </message>
    <message>
        <source>replayed; the engine was measured on x86 only</source>
        <translation>重放分配器；引擎仅在 x86 上实测</translation>
    </message>
    <message>
        <source>replayed for a CPU; GPU placement not replayed</source>
        <translation>按 CPU 重放；未重放 GPU 布局</translation>
    </message>
    <message>
        <source>rule read from the engine&apos;s source for this instruction set, not measured</source>
        <translation>此指令集的规则读自引擎源码，未实测</translation>
    </message>
    <message>
        <source>instruction set unknown: no copy to all</source>
        <translation>指令集未知：从无副本到全部副本</translation>
    </message>
    <message>
        <source>public logs of six cards</source>
        <translation>六张显卡的公开日志</translation>
    </message>
    <message>
        <source>requests</source>
        <translation>请求</translation>
    </message>
    <message>
        <source>finished</source>
        <translation>完成</translation>
    </message>
    <message>
        <source>cut short</source>
        <translation>截断</translation>
    </message>
    <message>
        <source>unfinished</source>
        <translation>未完成</translation>
    </message>
    <message>
        <source>ttft</source>
        <translation>首词元时间</translation>
    </message>
    <message>
        <source>tpot</source>
        <translation>每词元时间</translation>
    </message>
    <message>
        <source>itl</source>
        <translation>词元间隔</translation>
    </message>
    <message>
        <source>e2e</source>
        <translation>端到端</translation>
    </message>
    <message>
        <source>queue</source>
        <translation>排队</translation>
    </message>
    <message>
        <source>goodput</source>
        <translation>达标率</translation>
    </message>
    <message>
        <source>output rate</source>
        <translation>输出速率</translation>
    </message>
    <message>
        <source>output tokens</source>
        <translation>输出词元</translation>
    </message>
    <message>
        <source>utilization</source>
        <translation>利用率</translation>
    </message>
    <message>
        <source>batch</source>
        <translation>批大小</translation>
    </message>
    <message>
        <source>pool occupancy</source>
        <translation>缓存池占用</translation>
    </message>
    <message>
        <source>pool waste</source>
        <translation>缓存池浪费</translation>
    </message>
    <message>
        <source>pool cached</source>
        <translation>缓存池留存</translation>
    </message>
    <message>
        <source>pool fragmentation</source>
        <translation>缓存池碎片</translation>
    </message>
    <message>
        <source>load cached</source>
        <translation>缓存命中加载</translation>
    </message>
    <message>
        <source>card refusals</source>
        <translation>显卡拒绝</translation>
    </message>
    <message>
        <source>card wait</source>
        <translation>等待显卡</translation>
    </message>
    <message>
        <source>battery per 1000</source>
        <translation>每千词元电量</translation>
    </message>
    <message>
        <source>preemptions</source>
        <translation>抢占</translation>
    </message>
    <message>
        <source>recomputed tokens</source>
        <translation>重算词元</translation>
    </message>
    <message>
        <source>prefix hit</source>
        <translation>前缀命中</translation>
    </message>
    <message>
        <source>evicted tokens</source>
        <translation>逐出词元</translation>
    </message>
    <message>
        <source>sessions evicted</source>
        <translation>逐出会话</translation>
    </message>
    <message>
        <source>swapped</source>
        <translation>换出换入</translation>
    </message>
    <message>
        <source>draft acceptance</source>
        <translation>草稿接受率</translation>
    </message>
    <message>
        <source>peak memory</source>
        <translation>内存峰值</translation>
    </message>
    <message>
        <source>mean memory</source>
        <translation>内存均值</translation>
    </message>
    <message>
        <source>loads</source>
        <translation>加载次数</translation>
    </message>
    <message>
        <source>loading</source>
        <translation>加载用时</translation>
    </message>
    <message>
        <source>kills</source>
        <translation>结束的应用</translation>
    </message>
    <message>
        <source>own kills</source>
        <translation>自身被结束</translation>
    </message>
    <message>
        <source>major faults</source>
        <translation>主缺页</translation>
    </message>
    <message>
        <source>throttled</source>
        <translation>降频时间</translation>
    </message>
    <message>
        <source>first throttle</source>
        <translation>首次降频</translation>
    </message>
    <message>
        <source>hottest</source>
        <translation>最高温度</translation>
    </message>
    <message>
        <source>slowest speed</source>
        <translation>最低速度</translation>
    </message>
    <message>
        <source>energy</source>
        <translation>能耗</translation>
    </message>
    <message>
        <source>energy per token</source>
        <translation>每词元能耗</translation>
    </message>
    <message>
        <source>battery end</source>
        <translation>结束电量</translation>
    </message>
    <message>
        <source>switched off</source>
        <translation>关机时间</translation>
    </message>
    <message>
        <source>prior of class %1</source>
        <translation>类别 %1 的先验</translation>
    </message>
    <message>
        <source>%1 rows of %2</source>
        <translation>%1 每行 %2</translation>
    </message>
    <message>
        <source>mean</source>
        <translation>均值</translation>
    </message>
</context>
</TS>
