#compdef gatehouse
# Completion of gatehouse for zsh. Where gatehouse knows no word, files are completed.
_gatehouse() {
  local -a found
  found=("${(@f)$("${words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "${found[1]}" ]]; then
    compadd -- "${found[@]}"
  else
    _files
  fi
}
if [[ "${funcstack[1]}" = "_gatehouse" ]]; then
  _gatehouse "$@"
else
  compdef _gatehouse gatehouse
fi
