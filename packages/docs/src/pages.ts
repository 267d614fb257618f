// Lists the pages and files of the site with their sources. Pages from folders other than docs/ are in the
// folder `project`.
import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'

/** The root of the repository. */
export const root = new URL('../../../', import.meta.url).pathname

/** Maps source files to pages of the site. */
export type Pages = ReadonlyMap<string, string>

const outsidePages: Record<string, string> = {
  'ARCHITECTURE.md': 'project/architecture.md',
  'CHANGELOG.md': 'project/changelog.md',
  'CONTRIBUTING.md': 'project/contributing.md',
  'SECURITY.md': 'project/security.md',
  'examples/shell/README.md': 'project/frontend-example.md',
  'packages/client/README.md': 'project/client.md',
  'packages/cli/README.md': 'project/svc.md',
  'packages/gotemplate/README.md': 'project/templates.md',
}

const decisionsFolder = 'docs/decisions'

export const pages: Pages = new Map([
  [decisionsFolder, 'decisions/index.md'],
  ...globSync('docs/**/*.md', { cwd: root })
    .toSorted()
    .map((file): [string, string] => [file, posix.relative('docs', file)]),
  ...Object.entries(outsidePages),
])
const sourcesByPage: ReadonlyMap<string, string> = new Map([...pages].map(([source, page]) => [page, source]))

/**
 * Returns the text of a page. The list of decisions has no source file, because it is generated for the site.
 */
export const readPage = (source: string): string =>
  source === decisionsFolder ? listDecisions() : readFileSync(root + source, 'utf8')

function listDecisions(): string {
  const files = [...pages.keys()].filter((source) => source.startsWith(`${decisionsFolder}/`))
  const lines = files.map((file) => {
    const title = /^# (.+)$/m.exec(readPage(file))?.[1] ?? file
    return `- [${title}](decisions/${file.slice(decisionsFolder.length + 1)})`
  })
  return [
    '# Decision records',
    '',
    'This page lists the decision records. Each record explains the reasons for one part of the design.',
    '',
    ...lines,
    '',
  ].join('\n')
}

/** The folder of the site for files that are not pages, such as examples. */
export const fileFolder = 'files'

/**
 * Returns the site address for a link on a page. The address is that of another page or of a copied file.
 * `onFile` receives the source of a copied file. Links to other sites and links within the page stay
 * unchanged.
 */
export function resolveLink(page: string, link: string, onFile: (source: string) => void): string {
  if (/^([a-z]+:|#)/.test(link)) return link
  const [path = '', anchor] = link.split('#')
  const source = posix.join(posix.dirname(sourcesByPage.get(page) ?? ''), path).replace(/\/$/, '')
  const target = pages.get(source) ?? pages.get(`${source}/README.md`)
  const suffix = anchor === undefined ? '' : `#${anchor}`
  if (target !== undefined) return `${getRelativePath(page, target)}${suffix}`
  onFile(source)
  return `/${fileFolder}/${source}`
}

function getRelativePath(from: string, to: string): string {
  const path = posix.relative(posix.dirname(from), to)
  return path.startsWith('.') ? path : `./${path}`
}
