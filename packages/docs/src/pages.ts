// The pages and files of the site, and where they come from. Pages outside of docs/ are in the folder `project`.
import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'

/** The root of the repository. */
export const root = new URL('../../../', import.meta.url).pathname

/** Pages of the site by the file that they come from. */
export type Pages = ReadonlyMap<string, string>

const outside: Record<string, string> = {
  'ARCHITECTURE.md': 'project/architecture.md',
  'CHANGELOG.md': 'project/changelog.md',
  'CONTRIBUTING.md': 'project/contributing.md',
  'SECURITY.md': 'project/security.md',
  'examples/shell/README.md': 'project/frontend-example.md',
  'packages/client/README.md': 'project/client.md',
  'packages/cli/README.md': 'project/svc.md',
  'packages/gotemplate/README.md': 'project/templates.md',
}

const decisions = 'docs/decisions'

export const pages: Pages = new Map([
  [decisions, 'decisions/index.md'],
  ...globSync('docs/**/*.md', { cwd: root })
    .toSorted()
    .map((file): [string, string] => [file, posix.relative('docs', file)]),
  ...Object.entries(outside),
])
const sources: ReadonlyMap<string, string> = new Map([...pages].map(([source, page]) => [page, source]))

/** The text of a page; the list of decisions exists only in the site. */
export const readPage = (source: string): string =>
  source === decisions ? listDecisions() : readFileSync(root + source, 'utf8')

function listDecisions(): string {
  const files = [...pages.keys()].filter((source) => source.startsWith(`${decisions}/`))
  const lines = files.map((file) => {
    const title = /^# (.+)$/m.exec(readPage(file))?.[1] ?? file
    return `- [${title}](decisions/${file.slice(decisions.length + 1)})`
  })
  return [
    '# Decision records',
    '',
    'This page lists why each part is built as it is.',
    '',
    ...lines,
    '',
  ].join('\n')
}

/** The folder of the site for files that are not pages, such as examples. */
export const fileFolder = 'files'

/**
 * The address of a link, as the page of the site needs it: another page, or a copy of a file, which is passed to `onFile`. Links to
 * other sites and within the page stay.
 */
export function linkOf(page: string, link: string, onFile: (source: string) => void): string {
  if (/^([a-z]+:|#)/.test(link)) return link
  const [path = '', anchor] = link.split('#')
  const source = posix.join(posix.dirname(sources.get(page) ?? ''), path).replace(/\/$/, '')
  const target = pages.get(source) ?? pages.get(`${source}/README.md`)
  const suffix = anchor === undefined ? '' : `#${anchor}`
  if (target !== undefined) return `${relative(page, target)}${suffix}`
  onFile(source)
  return `/${fileFolder}/${source}`
}

function relative(from: string, to: string): string {
  const path = posix.relative(posix.dirname(from), to)
  return path.startsWith('.') ? path : `./${path}`
}
