// Every file of the repository matches a rule. A file that no rule knows (a scratch file, an editor's
// backup, a dump) fails the check, before it stays for years.
import { execFileSync } from 'node:child_process'
import { matchesGlob } from 'node:path'

const known = [
  // The root: what tools and hosts look for there, and the documents people start with.
  '.{dockerignore,editorconfig,gitignore,npmrc,prettierignore}',
  '{.oxlintrc,.prettierrc,knip,package,package-lock,tsconfig,tsconfig.build}.json',
  '{ARCHITECTURE,CHANGELOG,CONTRIBUTING,POLICY,README,SECURITY}.md',
  '{Dockerfile,LICENSE,compose.yaml,manager.example.yaml,redocly.yaml,vitest.config.ts,vitest.{load,nightly}.config.ts}',
  '.ci/{node,run}',
  '.github/workflows/*.yml',
  'docs/*.md',
  'docs/operations/*.md',
  'docs/api/{*.md,*.graphql,openapi.json}',
  'docs/decisions/[0-9][0-9][0-9][0-9]-*.md',
  'deploy/observability/{dashboards/*.json,prometheus.yaml,alerts.yaml,alerts.test.yaml}',
  'deploy/kubernetes/{base,migrate,exchange-master,wake,workloads,secrets/*,overlays/*}/*.yaml',
  'deploy/proxy/apply',
  'deploy/proxy/nginx/{*.conf,*.js}',
  'deploy/proxy/apache/{*.conf,*.lua,signed-out.html}',
  'deploy/systemd/*.service',
  'examples/*.ts',
  'examples/*.mjs',
  'examples/shell/{README.md,index.html,*.mjs,*.css,texts/*.json}',
  // A package: its own few files, then code and tests by folder.
  'packages/*/{package.json,tsconfig.build.json,vitest.config.ts,vitest.{load,nightly}.config.ts,README.md,LICENSE}',
  'packages/*/{bench,tools}/*.ts',
  'packages/*/test/**/*.ts',
  'packages/faults/src/{,bare/,drills/,engines/,esb/,mixed/,rows/}*.ts',
  'packages/harness/src/{,engines/}*.ts',
  'packages/legacy/src/*.ts',
  'packages/gotemplate/src/*.ts',
  'packages/cli/src/{,apply/,commands/,resources/}*.ts',
  'packages/client/src/{*.ts,generated/*.ts,documents/*.graphql}',
  'packages/manager/src/{*.ts,node-version.cjs}',
  'packages/manager/src/{commands,config,exports,generated,policy}/**/*.ts',
  'packages/manager/src/proxy-config/*.ts',
  'packages/manager/src/platform/{clock,engine-addresses,errors,ids,metrics,quick-histogram}.ts',
  'packages/manager/src/platform/*/*.ts',
  // What a file of a feature is, its name says: the rules of imports (.oxlintrc.json) go by it.
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

/** Those of the files that no rule knows. */
export const unknownFiles = (files: readonly string[]): string[] =>
  files.filter((file) => !known.some((pattern) => matchesGlob(file, pattern)))

if (import.meta.main) {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'])
  const unknown = unknownFiles(listed.toString().split('\0').filter(Boolean))
  for (const file of unknown)
    process.stderr.write(
      `${file}: no rule of packages/manager/tools/files.ts knows it; move, delete or add it\n`,
    )
  if (unknown.length > 0) process.exitCode = 1
}
