// Waits on the page that is shown instead of the shell while the tenant may not use the application.
const intervalMs = 2_000

async function reloadWhenOpen() {
  const response = await fetch('/page-config.js').catch(() => null)
  if (response?.ok === true) location.reload()
  else setTimeout(() => void reloadWhenOpen(), intervalMs)
}
void reloadWhenOpen()
