// Addresses that work in any folder, also when a page is opened from a disk without a server.

/** The page with relative addresses instead of those from the root of the site. */
export function relativeAddresses(html: string, page: string): string {
  const up = '../'.repeat(page.split('/').length - 1)
  const prefix = up === '' ? './' : up
  return html
    .replaceAll('href="/"', `href="${prefix}index.html"`)
    .replaceAll('href="/#', `href="${prefix}index.html#`)
    .replaceAll('href="/', `href="${prefix}`)
    .replaceAll('src="/', `src="${prefix}`)
}
