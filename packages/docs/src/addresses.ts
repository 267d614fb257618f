// Makes addresses relative, so that the site works in any folder, even if a page is opened from disk without
// a server.

/** Returns the page with all root-relative addresses replaced by addresses that are relative to the page. */
export function makeAddressesRelative(html: string, page: string): string {
  const up = '../'.repeat(page.split('/').length - 1)
  const prefix = up === '' ? './' : up
  return html
    .replaceAll('href="/"', `href="${prefix}index.html"`)
    .replaceAll('href="/#', `href="${prefix}index.html#`)
    .replaceAll('href="/', `href="${prefix}`)
    .replaceAll('src="/', `src="${prefix}`)
}
