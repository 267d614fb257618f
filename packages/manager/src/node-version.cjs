// Runs in front of the commands of package.json. A Node that is too old cannot load TypeScript and fails with an error that
// does not say why; this file any Node can load.
'use strict'
const needed = 24
const found = process.versions.node
if (Number(found.split('.')[0]) < needed) {
  process.stderr.write(
    `this needs Node ${needed} or newer, and this is Node ${found}: run ". .ci/node" first, or install Node ${needed}\n`,
  )
  process.exit(1)
}
