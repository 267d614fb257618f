// Builds the site into packages/docs/out. Any static file server can serve this folder. The pages load
// nothing from other hosts.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { listDiagrams, drawDiagrams } from './diagrams.ts'
import { pages, readPage } from './pages.ts'
import { output, stagingFolder } from './site.ts'

const usage = `Build the documentation as a site in packages/docs/out.

Usage: npm run docs [-- --serve]

  --serve       serve the site on http://127.0.0.1:4173 after the build, until Ctrl-C
  -h, --help    show this text

Examples:
  npm run docs
  npm run docs -- --serve
`
// By default, VitePress treats links to files with these extensions as links to pages.
// oxlint-disable-next-line node/no-process-env -- VitePress reads the extensions only from this variable
process.env['VITE_EXTRA_EXTENSIONS'] = 'graphql,ts,mjs,yaml,json,py,go'

/** Builds the site and returns its folder. */
export async function buildSite(): Promise<string> {
  rmSync(stagingFolder, { recursive: true, force: true })
  for (const [source, page] of pages) {
    mkdirSync(dirname(stagingFolder + page), { recursive: true })
    writeFileSync(stagingFolder + page, readPage(source))
  }
  const diagrams = [...pages.keys()].flatMap((source) => listDiagrams(readPage(source)))
  await drawDiagrams(diagrams, `${stagingFolder}public/diagrams`)
  const { build } = await import('vitepress')
  await build(new URL('..', import.meta.url).pathname)
  return output
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { serve: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  })
  if (values.help === true) process.stdout.write(usage)
  else {
    const startedAt = performance.now()
    await buildSite()
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
    process.stdout.write(`Built ${pages.size} pages in packages/docs/out in ${seconds} s.\n`)
    if (values.serve === true) {
      const { serve } = await import('vitepress')
      await serve({ root: new URL('..', import.meta.url).pathname, port: 4173 })
    }
  }
}
