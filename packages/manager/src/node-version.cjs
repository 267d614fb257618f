// The scripts of package.json run this file first. An old Node cannot load TypeScript and fails with an unclear error;
// every Node can load this file.
'use strict'
const needed = 24
const found = process.versions.node
if (Number(found.split('.')[0]) < needed) {
  process.stderr.write(
    `Node ${needed} or newer is required, found Node ${found}: run ". .ci/node" first, or install Node ${needed}\n`,
  )
  process.exit(1)
}
