# Completion of gatehouse for fish.
complete -c gatehouse -f -a '(gatehouse __complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
complete -c gatehouse -l input -r -F
