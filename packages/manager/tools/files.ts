// Every file in the repository must match a rule. The check therefore fails for scratch files, backups and
// dumps. Markdown pages must be short, have valid links, and must not mention removed settings.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { matchesGlob, posix } from 'node:path'

const knownPatterns = [
  // The root contains files that tools expect there, and the documents that people read first.
  '.{dockerignore,editorconfig,gitignore,npmrc,prettierignore}',
  '{.oxlintrc,.prettierrc,knip,package,package-lock,tsconfig,tsconfig.build}.json',
  '{ARCHITECTURE,CHANGELOG,CONTRIBUTING,README,SECURITY}.md',
  '{Dockerfile,LICENSE,compose.yaml,manager.example.yaml,redocly.yaml,cspell.json,cspell-words.txt,vitest.config.ts,vitest.{load,nightly}.config.ts}',
  '.ci/{node,run}',
  '.github/workflows/*.yml',
  'docs/{dependencies,index}.md',
  'docs/{start,reference,reference/{commands,graphql,permissions,rest},explanation}/*.md',
  'docs/guides/*/*.md',
  'docs/images/{architecture-{light,dark}.svg,{demo,console-*}-{light,dark}.png}',
  'docs/api/{schema.graphql,openapi.json,schemas.json}',
  'docs/decisions/[0-9][0-9][0-9][0-9]-*.md',
  'deploy/observability/{dashboards/*.json,prometheus.yaml,alerts.yaml,alerts.test.yaml}',
  'deploy/kubernetes/{base,migrate,exchange-master,wake,workloads,secrets/*,overlays/*}/*.yaml',
  'deploy/proxy/apply',
  'deploy/proxy/nginx/{*.conf,*.js}',
  'deploy/proxy/apache/{*.conf,*.lua,signed-out.html}',
  'deploy/systemd/*.service',
  'examples/*.{ts,py,go}',
  'examples/*.mjs',
  'examples/shell/{README.md,index.html,*.mjs,*.css,texts/*.json}',
  // A package has a few files at the top level, and code and tests in folders.
  'packages/*/{package.json,tsconfig.build.json,vitest.config.ts,vitest.{load,nightly}.config.ts,README.md,LICENSE}',
  'packages/*/{bench,tools}/*.ts',
  'packages/manager/tools/demo.css',
  'packages/*/test/**/*.ts',
  'packages/faults/src/{,bare/,drills/,engines/,esb/,mixed/,rows/}*.ts',
  'packages/docs/src/*.ts',
  'packages/docs/.vitepress/{config.ts,tsconfig.json,theme/{index.ts,site.css}}',
  'packages/harness/src/{,engines/}*.ts',
  'packages/legacy/src/*.ts',
  'packages/gotemplate/src/*.ts',
  'packages/cli/src/{,api/,apply/,commands/,complete/,doctor/,export/,follow/,resources/}*.ts',
  'packages/console/{index.html,tsconfig.json,vite.config.ts,src/*.svg}',
  'packages/console/src/{*.ts,*.tsx}',
  'packages/console/src/{api,app,code-editor,kit,kit-page,styles,texts}/*.{ts,tsx,css}',
  'packages/console/src/sections/*/*.{ts,tsx,css}',
  'packages/console/src/{queries/*.graphql,generated/*.ts,generated/documents/*.ts}',
  'packages/client/src/{*.ts,generated/*.ts,documents/*.graphql}',
  'packages/manager/src/{*.ts,node-version.cjs}',
  'packages/manager/src/{commands,config,exports,generated,policy}/**/*.ts',
  'packages/manager/src/proxy-config/*.ts',
  'packages/manager/src/platform/{clock,engine-addresses,errors,ids,metrics,quick-histogram}.ts',
  'packages/manager/src/platform/*/*.ts',
  // The suffix of a feature file states its layer: the import rules (.oxlintrc.json) depend on it.
  'packages/manager/src/features/*/index.ts',
  'packages/manager/src/platform/http/pages/*.{ts,css}',
  'packages/manager/src/features/*/*.{resolvers,routes,schemas,page,socket,jobs,service,store,query,pure,settings,metrics,worker,test}.ts',
  'packages/gotemplate/test/corpus/*.json',
  'packages/gotemplate/test/oracle/main.go',
  'packages/manager/migrations/[0-9][0-9][0-9][0-9]_*.sql',
  'packages/manager/conformance/register.yaml',
  'packages/manager/src/{features/*,platform/graphql,policy}/*.graphql',
  'packages/manager/test/{baseline-{operations,schema}.graphql,baseline-answers.txt,removed-tests.yaml}',
]

/** Returns the files that match no rule. */
export const findUnknownFiles = (files: readonly string[]): string[] =>
  files.filter((file) => !knownPatterns.some((pattern) => matchesGlob(file, pattern)))

/** Maps paths to Markdown text. */
type Pages = ReadonlyMap<string, string>
type Targets = { paths: ReadonlySet<string>; anchors: ReadonlyMap<string, ReadonlySet<string>> }
type Options = { names: ReadonlySet<string>; sections: ReadonlySet<string> }

const maxWords = 1_800
const optionsPage = 'docs/reference/configuration.md'

/** Names that look like settings but are not settings. */
const otherNames = new Set([
  // Reserved keys of frontend configurations.
  'comms.enabled',
  'pilets.pins',
  // A host of the demo.
  'console.localhost',
  // Attributes of trace spans.
  'http.request.method',
  'http.response.status_code',
  'http.route',
  // A host name of the demo.
  'console.localhost',
  // Variables of the Apache proxy.
  'SVC_PROXY_DIR',
])

/**
 * Returns the problems on all pages, one per line: excessive length, broken links and anchors, and removed
 * settings.
 */
export function findPageProblems(files: readonly string[], pages: Pages): string[] {
  const targets = {
    paths: new Set(files.flatMap(listWithParents)),
    anchors: new Map([...pages].map(([page, text]) => [page, findAnchors(text)])),
  }
  const options = readOptions(pages.get(optionsPage) ?? '')
  return [...pages].flatMap(([page, text]) => [
    ...findBrokenLinks(page, text, targets),
    ...(isChecked(page, text)
      ? [...findExcessiveLength(page, text), ...findRemovedSettings(page, text, options)]
      : []),
  ])
}

/**
 * Returns whether the page's length and settings are checked. Decisions are exempt because they describe the past,
 * docs/dependencies.md and generated pages because they grow with their source.
 */
const isChecked = (page: string, text: string): boolean =>
  page.startsWith('docs/') &&
  !page.startsWith('docs/decisions/') &&
  page !== 'docs/dependencies.md' &&
  !isGenerated(text)
const isGenerated = (text: string): boolean =>
  (text.split('\n## ', 1)[0] ?? '').includes('Generated by `npm run ')

function findExcessiveLength(page: string, text: string): string[] {
  const count = text.split(/\s+/).filter(Boolean).length
  return count > maxWords ? [`${page}: has ${count} words, but the limit is ${maxWords}; split the page`] : []
}

function findBrokenLinks(page: string, text: string, { paths, anchors }: Targets): string[] {
  const prose = removeCodeBlocks(text).replaceAll(/`[^`\n]*`/g, '')
  const links = [...prose.matchAll(/(?:\]\(|\b(?:src|srcset)=")([^()\s"]+)[)"]/g)]
  return links.flatMap(([, link = '']) => {
    if (/^[a-z]+:/.test(link)) return []
    const [path = '', anchor] = link.split('#')
    const target = path === '' ? page : posix.join(posix.dirname(page), path).replace(/\/$/, '')
    if (!paths.has(target)) return [`${page}: links to ${target}, which does not exist`]
    if (anchor === undefined || anchors.get(target)?.has(anchor) !== false) return []
    return [`${page}: links to ${target}#${anchor}, but that page has no such heading`]
  })
}

/** Returns the path and all its parent folders. */
const listWithParents = (path: string): string[] =>
  path.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'))

/** Returns the anchors that GitHub derives from the headings of a page. */
function findAnchors(text: string): Set<string> {
  const counts = new Map<string, number>()
  for (const [, heading = ''] of removeCodeBlocks(text).matchAll(/^#{1,6} (.+)$/gm)) {
    const plainHeading = heading.replaceAll(/\]\([^()]*\)/g, '').toLowerCase()
    const anchor = plainHeading
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .trim()
      .replaceAll(' ', '-')
    const count = counts.get(anchor) ?? 0
    counts.set(anchor, count + 1)
    if (count > 0) counts.set(`${anchor}-${count}`, 1)
  }
  return new Set(counts.keys())
}

/** Returns the text without fenced code blocks. */
function removeCodeBlocks(text: string): string {
  let isInside = false
  const lines = text.split('\n').filter((line) => {
    const isFence = /^\s*```/.test(line)
    if (isFence) isInside = !isInside
    return !isFence && !isInside
  })
  return lines.join('\n')
}

/** Returns the keys and variables that the generated page lists, and the sections of the keys. */
function readOptions(page: string): Options {
  const keys = [...page.matchAll(/^\| `([a-z0-9_.]+)`/gm)].map(([, key = '']) => key)
  const variables = [...page.matchAll(/`(SVC_[A-Z0-9_]+)`/g)].map(([, variable = '']) => variable)
  const sections = keys.filter((key) => key.includes('.')).map((key) => key.split('.', 1)[0] ?? '')
  return { names: new Set([...keys, ...variables]), sections: new Set(sections) }
}

const fileNamePattern = /\.(?:conf|css|js|json|log|md|mjs|service|sql|ts|ya?ml)$/

/**
 * Finds unknown keys in backticks, with or without a value, and unknown variables. Prefixes of known names are allowed.
 */
function findRemovedSettings(page: string, text: string, { names, sections }: Options): string[] {
  const keys = [...removeCodeBlocks(text).matchAll(/`([a-z_]+\.[a-z0-9_.]+)(?::[^`\n]*)?`/g)]
    .map(([, key = '']) => key)
    .filter((key) => sections.has(key.split('.', 1)[0] ?? '') && !fileNamePattern.test(key))
  const variables = (text.match(/\bSVC_[A-Z][A-Z0-9_]*/g) ?? []).filter((variable) =>
    [...sections].some((name) => variable.startsWith(`SVC_${name.toUpperCase()}_`)),
  )
  const isPrefix = (name: string): boolean =>
    [...names].some((one) => one.startsWith(name.endsWith('_') ? name : `${name}.`))
  const isKnown = (name: string): boolean =>
    otherNames.has(name) || names.has(name.replace(/_FILE$/, '')) || isPrefix(name)
  return [...new Set([...keys, ...variables])]
    .filter((name) => !isKnown(name))
    .map((name) => `${page}: describes a removed setting: ${name} is not in ${optionsPage}`)
}

if (import.meta.main) {
  const fileList = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'])
  const files = fileList.toString().split('\0').filter(existsSync)
  const pages = files.filter((file) => file.endsWith('.md'))
  const problems = [
    ...findUnknownFiles(files).map(
      (file) =>
        `${file}: matches no rule in packages/manager/tools/files.ts; move it, delete it or add a rule`,
    ),
    ...findPageProblems(files, new Map(pages.map((page) => [page, readFileSync(page, 'utf8')]))),
  ]
  for (const problem of problems) process.stderr.write(`${problem}\n`)
  if (problems.length > 0) process.exitCode = 1
}
