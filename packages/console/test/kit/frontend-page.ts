// A page of a frontend that loads its translations through its proxy, as frontends do before users sign in.
import { proxySecret } from '@manager/harness/callers.ts'
import type { Scene } from './scene.ts'

const origin = 'http://shop.localhost'
const page = `<!doctype html><meta charset="utf-8"><title>Shop</title><ul></ul><script type="module">
const { applicationId, locale } = Object.fromEntries(new URLSearchParams(location.search))
const response = await fetch('/language-packs/' + applicationId + '/' + locale)
const flatten = (value, path) => typeof value === 'string'
  ? [path.join('.') + ': ' + value]
  : Object.entries(value).flatMap(([name, child]) => flatten(child, [...path, name]))
for (const text of flatten((await response.json()).messages, [])) {
  const item = document.createElement('li')
  item.textContent = text
  document.querySelector('ul').append(item)
}
document.title = 'Shop in ' + locale
</script>`

/** Opens the frontend in Chromium, and returns the translations that it shows. */
export async function readFrontendTexts(
  { service, browser, project: { applicationId } }: Scene,
  locale: string,
): Promise<string[]> {
  const context = await browser.newContext()
  // The stand-in for the proxy of the application.
  await context.route(`${origin}/**`, async (route) => {
    const { pathname } = new URL(route.request().url())
    if (!pathname.startsWith('/language-packs/'))
      return route.fulfill({ contentType: 'text/html', body: page })
    const response = await fetch(service.url + pathname, { headers: { 'x-proxy-auth': proxySecret } })
    return route.fulfill({ status: response.status, json: await response.json() })
  })
  try {
    const frontend = await context.newPage()
    await frontend.goto(`${origin}/?${new URLSearchParams({ applicationId, locale }).toString()}`)
    await frontend.locator('li').first().waitFor()
    return await frontend.locator('li').allTextContents()
  } finally {
    await context.close()
  }
}
