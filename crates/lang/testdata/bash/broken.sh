first() {
  echo 1
}

second() {
  if [ -f x ]; then
    echo
}

third() {
  echo 3
}
