<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en">
<context>
    <name>memwall::gui::ControlPanel</name>
    <message numerus="yes">
        <source>%n layer(s)</source>
        <translation><numerusform>%n layer</numerusform><numerusform>%n layers</numerusform></translation>
    </message>
    <message numerus="yes">
        <source>%n KV head(s)</source>
        <translation><numerusform>%n KV head</numerusform><numerusform>%n KV heads</numerusform></translation>
    </message>
    <message numerus="yes">
        <source>%n layer(s) on the card</source>
        <translation><numerusform>%n layer on the card</numerusform><numerusform>%n layers on the card</numerusform></translation>
    </message>
</context>
<context>
    <name>memwall::gui::Footer</name>
    <message numerus="yes">
        <source>%n warning(s)</source>
        <translation><numerusform>%n warning</numerusform><numerusform>%n warnings</numerusform></translation>
    </message>
</context>
<context>
    <name>memwall::gui::LimitsPanel</name>
    <message numerus="yes">
        <source>%n model(s)</source>
        <translation><numerusform>%n model</numerusform><numerusform>%n models</numerusform></translation>
    </message>
</context>
<context>
    <name>memwall::gui::SimulatePage</name>
    <message numerus="yes">
        <source>%n request(s)</source>
        <translation><numerusform>%n request</numerusform><numerusform>%n requests</numerusform></translation>
    </message>
    <message numerus="yes">
        <source>%1: model %2, other apps %3, %n running</source>
        <translation><numerusform>%1: model %2, other apps %3, %n running</numerusform><numerusform>%1: model %2, other apps %3, %n running</numerusform></translation>
    </message>
</context>
<context>
    <name>memwall::gui::VerifyPage</name>
    <message numerus="yes">
        <source>%1 · %2 · %n thread(s) · %3 pages</source>
        <translation><numerusform>%1 · %2 · %n thread · %3 pages</numerusform><numerusform>%1 · %2 · %n threads · %3 pages</numerusform></translation>
    </message>
    <message numerus="yes">
        <source>Achieved %1; the median lies between %2 and %3 (%n sample(s)).</source>
        <translation><numerusform>Achieved %1; the median lies between %2 and %3 (%n sample).</numerusform><numerusform>Achieved %1; the median lies between %2 and %3 (%n samples).</numerusform></translation>
    </message>
    <message numerus="yes">
        <source>%n of the samples disturbed.</source>
        <translation><numerusform>%n of the samples disturbed.</numerusform><numerusform>%n of the samples disturbed.</numerusform></translation>
    </message>
    <message numerus="yes">
        <source>%n missed</source>
        <translation><numerusform>%n missed</numerusform><numerusform>%n missed</numerusform></translation>
    </message>
</context>
</TS>
