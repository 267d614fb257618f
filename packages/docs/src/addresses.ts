// Relative addresses work in any folder, even if a page is opened from disk without a server.

/** Returns the page with root-relative addresses replaced by addresses relative to the page. */
export function relativeAddresses(html: string, page: string): string {
  const up = '../'.repeat(page.split('/').length - 1)
  const prefix = up === '' ? './' : up
  return html
    .replaceAll('href="/"', `href="${prefix}index.html"`)
    .replaceAll('href="/#', `href="${prefix}index.html#`)
    .replaceAll('href="/', `href="${prefix}`)
    .replaceAll('src="/', `src="${prefix}`)
}
