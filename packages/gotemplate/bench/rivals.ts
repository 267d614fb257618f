// Loads other packages that render Go templates. They are installed outside the repository, only for
// measurements.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/** A template engine in the benchmark. `prepare` is absent if the engine cannot reuse a parsed template. */
export interface Engine {
  readonly name: string
  /** Parses and executes a template. */
  readonly render: (template: string, data: unknown) => string
  /** Parses a template. Returns a function that executes it. */
  readonly prepare?: (template: string) => (data: unknown) => string
}

const packageVersions = [
  '@ctrl/golang-template@2.0.1',
  '@sinkingpoint/gotemplate@0.1.15',
  'go-text-template@0.2.2',
]

interface Sinkingpoint {
  Template: new (name: string) => { parse(text: string): void; execute(data: unknown): string }
}
interface GoTextTemplate {
  Template: new (name: string) => { execute(text: string, data: unknown): string }
}

/**
 * Loads the other packages, and installs them if necessary. Returns an empty list if the installation fails.
 */
export function loadOtherPackages(): Engine[] {
  const directory = new URL('../../../node_modules/.cache/gotemplate-other-packages', import.meta.url)
    .pathname
  if (!existsSync(`${directory}/node_modules`)) {
    mkdirSync(directory, { recursive: true })
    writeFileSync(`${directory}/package.json`, '{"private": true}')
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    try {
      execFileSync('npm', ['install', '--prefix', directory, ...options, ...packageVersions], {
        stdio: 'inherit',
      })
    } catch {
      process.stdout.write('the other packages could not be installed and are skipped\n')
      return []
    }
  }
  const requirePackage = createRequire(`${directory}/package.json`)
  const ctrl = requirePackage('@ctrl/golang-template') as { parse: (text: string, data: unknown) => string }
  const sinkingpoint = requirePackage('@sinkingpoint/gotemplate') as Sinkingpoint
  const goTextTemplate = requirePackage('go-text-template') as GoTextTemplate
  const prepare = (text: string): ((data: unknown) => string) => {
    const template = new sinkingpoint.Template('x')
    template.parse(text)
    return (data) => template.execute(data)
  }
  return [
    { name: '@ctrl/golang-template', render: (text, data) => ctrl.parse(text, data) },
    { name: '@sinkingpoint/gotemplate', render: (text, data) => prepare(text)(data), prepare },
    {
      name: 'go-text-template',
      render: (text, data) => new goTextTemplate.Template('x').execute(text, data),
    },
  ]
}
