// Derives the navigation of the site from the list of pages in docs/index.md, so that there is only one list.
import { linkOf, readPage } from './pages.ts'

export type Item = { text: string; link?: string; items?: Item[] }

const index = 'docs/index.md'

/** Returns the parts of the page list, each with its groups and pages. */
export function readSidebar(): Item[] {
  const parts: Item[] = []
  let target: Item[] = []
  for (const line of readPage(index).split('\n')) {
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
      target.push({ text: text.replaceAll('`', ''), link: pageLink(link) })
  }
  return parts.filter(({ items }) => items !== undefined && items.length > 0)
}

/**
 * Returns the navigation by folder. A page in one of the folders shows only its own part; other pages show all parts.
 */
export function sidebarByFolder(): Record<string, Item[]> {
  const parts = readSidebar()
  const folders = ['start', 'guides', 'reference', 'explanation']
  const own = folders.map((folder) => [
    `/${folder}/`,
    parts.filter(({ text }) => text.toLowerCase() === folder),
  ])
  return { ...(Object.fromEntries(own) as Record<string, Item[]>), '/': parts }
}

/** Returns the root-relative address of a page. */
const pageLink = (link: string): string =>
  `/${linkOf('index.md', link, () => undefined).replace(/^\.\//, '')}`
