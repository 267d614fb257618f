// The navigation of the site. It is the list of pages in docs/index.md, so that no second list exists.
import { linkOf, readPage } from './pages.ts'

export type Item = { text: string; link?: string; items?: Item[] }

const index = 'docs/index.md'

/** The parts of the list with their groups and pages. */
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

/** The navigation by the folder of a page: its own part; the whole list elsewhere. */
export function sidebarByFolder(): Record<string, Item[]> {
  const parts = readSidebar()
  const folders = ['start', 'guides', 'reference', 'explanation']
  const own = folders.map((folder) => [
    `/${folder}/`,
    parts.filter(({ text }) => text.toLowerCase() === folder),
  ])
  return { ...(Object.fromEntries(own) as Record<string, Item[]>), '/': parts }
}

/** The address of a page from the root of the site. */
const pageLink = (link: string): string =>
  `/${linkOf('index.md', link, () => undefined).replace(/^\.\//, '')}`
