// Tests that the image contains everything that the service imports. These tests do not build the image. They
// check the inputs of its first stage.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const root = new URL('../../../', import.meta.url)
const read = (file: string): string => readFileSync(new URL(file, root), 'utf8')

test('no dependency runs code at install', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { hasInstallScript?: boolean; dev?: boolean }>
  }
  const { allowScripts } = JSON.parse(read('package.json')) as { allowScripts: Record<string, boolean> }
  const withScripts = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript === true)
  // No production dependency may have install scripts. npm is configured to skip the install scripts of development
  // dependencies.
  expect(withScripts.filter(([, { dev }]) => dev !== true)).toEqual([])
  const names = withScripts.map(([path]) => path.split('node_modules/').at(-1) as string)
  expect(names.map((name) => [name, allowScripts[name]])).toEqual(names.map((name) => [name, false]))
  expect(read('.npmrc')).toContain('strict-allow-scripts=true')
})

test('every package of production is copied from the stage that installs them', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { dev?: boolean; link?: boolean }>
  }
  const installed = Object.entries(packages).flatMap(([path, { dev, link }]) =>
    path.includes('node_modules/') && dev !== true && link !== true ? [path] : [],
  )
  // Some production packages are nested below packages/.
  expect(installed.filter((path) => path.startsWith('packages/'))).not.toEqual([])
  const copied = [...read('Dockerfile').matchAll(/^COPY --from=packages \/app(\S*) /gm)].map(
    ([, from]) => from,
  )
  const isCopied = (path: string): boolean =>
    copied.some((from) => from === '' || `/${path}/`.startsWith(`${from}/`))
  expect(installed.filter((path) => !isCopied(path))).toEqual([])
})

test('every folder of source that is run is copied', () => {
  for (const folder of [
    'packages/gotemplate/src',
    'packages/legacy/src',
    'packages/manager/src',
    'packages/manager/migrations',
  ])
    expect(read('Dockerfile')).toContain(`COPY ${folder} ${folder}\n`)
})

test('the console is built from its sources, and the image contains only the result', () => {
  const stages = read('Dockerfile').split(/^FROM /m)
  const [build = '', image = ''] = [stages.at(-2), stages.at(-1)]
  expect(build).toMatch(/^node:24-slim AS console\n/)
  expect(build).toContain('RUN npm run build -w packages/console\n')
  const { dependencies } = JSON.parse(read('packages/console/package.json')) as {
    dependencies: Record<string, string>
  }
  const own = Object.keys(dependencies).flatMap((name) => /^@manager\/(.+)$/.exec(name)?.[1] ?? [])
  expect(own).toEqual(['client'])
  for (const folder of [...own.map((name) => `packages/${name}/src`), 'packages/console'])
    expect(build).toContain(`COPY ${folder} ${folder}\n`)
  expect(image.match(/^COPY .*console.*$/gm)).toEqual([
    'COPY --from=console /app/packages/console/dist packages/console/dist',
  ])
  // The host's build must not reach the image, because it can be older than the sources.
  expect(read('.dockerignore').split('\n')).toContain('packages/*/dist')
})
