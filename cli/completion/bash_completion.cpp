#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "cli/completion/command_tree.h"

namespace memwall::cli {
namespace {

/// What the script offers, as arguments of its `offer` function.
std::string offer(const Values& v) {
    std::string words = v.name.empty() ? "" : fmt::format("$_memwall_{}", v.name);
    for (const std::string& w : v.words) words += (words.empty() ? "" : " ") + w;
    return fmt::format("_memwall_offer {} \"{}\"", v.files ? "files" : "words", words);
}

/// Names without those of positionals.
std::string option_names(const CommandWords& c) {
    std::string names;
    for (const OptionWords& o : c.options)
        if (!o.positional)
            for (const std::string& n : o.names) names += (names.empty() ? "" : " ") + n;
    return names;
}

/// Cases over "COMMAND:OPTION" and "COMMAND".
struct Cases {
    std::map<std::string, std::string> values;  ///< what to offer -> patterns
    std::string flags, commands;

    void add(const CommandWords& c, const std::string& path) {
        std::string positional = ":";
        for (const OptionWords& o : c.options) {
            if (o.positional) {
                if (positional == ":" && !o.values.empty()) positional = offer(o.values);
                continue;
            }
            if (o.value.empty()) continue;
            std::string& patterns = values[o.values.empty() ? ":" : offer(o.values)];
            for (const std::string& n : o.names)
                patterns += fmt::format("{}{}:{}", patterns.empty() ? "" : "|", path, n);
        }
        std::string subs;
        for (const CommandWords& s : c.subcommands) subs += (subs.empty() ? "" : " ") + s.name;
        commands += fmt::format("        {}) options=\"{}\" commands=\"{}\" positional='{}' ;;\n", path,
                                option_names(c), subs, positional);
        for (const CommandWords& s : c.subcommands) add(s, path + "/" + s.name);
    }
};

}  // namespace

std::string bash_completion(const CommandWords& root) {
    std::string out =
        "# bash completion of memwall; written by 'memwall completion bash'\n"
        "# To try it: source <(memwall completion bash)\n";
    for (const NamedValues& v : named_values())
        out += fmt::format("_memwall_{}=\"{}\"\n", v.name, fmt::join(v.words, " "));
    Cases cases;
    cases.add(root, "memwall");
    std::string values;
    for (const auto& [what, patterns] : cases.values)
        values += fmt::format("        {}) {}; return ;;\n", patterns, what);
    return out + R"(
# _memwall_offer words|files WORDS: those that continue $cur
_memwall_offer() {
    local IFS=$' \t\n'
    COMPREPLY=($(compgen -W "$2" -- "$cur"))
    if [ "$1" = files ]; then
        IFS=$'\n'
        COMPREPLY+=($(compgen -f -- "$cur"))
        compopt -o filenames 2>/dev/null
    fi
}

# Readline breaks words at ':' and '=', which our names hold: words are taken from the line, and what stands
# before the last break is cut off the answers.
_memwall_complete() {
    local line=${COMP_LINE:0:COMP_POINT} cur previous word path=memwall commands options positional i
    local -a typed
    read -ra typed <<<"$line"
    case $line in *[[:space:]]) typed+=("") ;; esac
    cur=${typed[${#typed[@]} - 1]}
    previous=${typed[${#typed[@]} - 2]}
    case $cur in --*=*) previous=${cur%%=*} cur=${cur#*=} ;; esac
    _memwall_command
    for ((i = 1; i < ${#typed[@]} - 1; i++)); do
        word=${typed[i]}
        case " $commands " in *" $word "*) path=$path/$word; _memwall_command ;; esac
    done
    case $path:$previous in
)" + values +
           R"(    esac
    case $cur in
        -*) _memwall_offer words "$options" ;;
        *)
            if [ -n "$commands" ] && [ "$path" = memwall ]; then
                _memwall_offer words "$commands"
            else
                eval "$positional"
                [ -z "$commands" ] || COMPREPLY+=($(compgen -W "$commands" -- "$cur"))
            fi ;;
    esac
}

_memwall_command() {
    case $path in
)" + cases.commands +
           R"(    esac
}

_memwall() {
    COMPREPLY=()
    local whole
    _memwall_complete
    whole=${COMP_LINE:0:COMP_POINT}
    whole=${whole##*[[:space:]]}
    case $whole in --*=*) whole=${whole#*=} ;; esac
    case $whole:$COMP_WORDBREAKS in
        *:*:*:*)
            local before=${whole%"${whole##*:}"} i
            for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${COMPREPLY[i]#"$before"}; done ;;
    esac
}
complete -F _memwall memwall
)";
}

}  // namespace memwall::cli
