// Derives the navigation of the site from the list of pages in docs/index.md, so that the list is maintained
// only once.
import { resolveLink, readPage } from './pages.ts'

export type Item = { text: string; link?: string; items?: Item[] }

const indexPage = 'docs/index.md'

/** Returns the parts of the page list, each with its groups and pages. */
export function readSidebar(): Item[] {
  const parts: Item[] = []
  let target: Item[] = []
  for (const line of readPage(indexPage).split('\n')) {
    const part = /^## (.+)$/.exec(line)?.[1]
    const group = /^### (.+)$|^([A-Z][\w ,]+):$/.exec(line)?.slice(1).find(Boolean)
    const [, text, link] = /^- \[([^\]]+)\]\(([^)]+)\)/.exec(line) ?? []
    if (part !== undefined) {
      target = []
      parts.push({ text: part, items: target })
    } else if (group !== undefined && parts.length > 0) {
      target = []
      parts.at(-1)?.items?.push({ text: group, items: target })
    } else if (text !== undefined && link !== undefined && link.split('#')[0]?.endsWith('.md') === true)
      target.push({ text: text.replaceAll('`', ''), link: getPageLink(link) })
  }
  return parts.filter(({ items }) => items !== undefined && items.length > 0)
}

/**
 * Returns the navigation for each folder. Pages in these folders show only their own part. Other pages show
 * all parts.
 */
export function createSidebarByFolder(): Record<string, Item[]> {
  const parts = readSidebar()
  const folders = ['start', 'guides', 'reference', 'explanation']
  const partsByFolder = folders.map((folder) => [
    `/${folder}/`,
    parts.filter(({ text }) => text.toLowerCase() === folder),
  ])
  return { ...(Object.fromEntries(partsByFolder) as Record<string, Item[]>), '/': parts }
}

/** Returns the root-relative address of a page. */
const getPageLink = (link: string): string =>
  `/${resolveLink('index.md', link, () => undefined).replace(/^\.\//, '')}`
