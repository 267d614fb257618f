import { createWriteStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Command, Option } from 'commander'
import type { Database } from '../platform/postgres/database.ts'
import { isHost, readBackendPattern, readHostPatterns } from '../proxy-config/hosts.ts'
import { type OutputFormat, outputFormats, render } from '../proxy-config/render.ts'
import { streamVirtualHosts } from '../proxy-config/virtual-hosts.ts'
import { loadCommandConfig, withDatabase } from './context.ts'
import type { Terminal } from './terminal.ts'

type Options = {
  format: OutputFormat
  hostPattern: string
  dedicatedHostPattern?: string
  managementHost?: string
  backendPattern?: string
  out?: string
}

const maxNamesShown = 20

const examples = `
Examples:
  $ npm run -s manager -- proxy-config --host-pattern '{application}.{project}.example.com'
  $ npm run manager -- proxy-config --host-pattern '{application}.{project}.example.com' \\
      --management-host manager.example.com --format nginx --out rendered.conf`

/** Adds the `manager proxy-config` command. */
export function addProxyConfigCommands(program: Command, terminal: Terminal): void {
  program
    .command('proxy-config')
    .description('Render the proxy configuration: the hosts, and the gate of every route.')
    .requiredOption('--host-pattern <pattern>', 'host of an application, with {application} and {project}')
    .option(
      '--dedicated-host-pattern <pattern>',
      'host of a dedicated tenant (default: {tenant}. followed by --host-pattern)',
    )
    .option(
      '--management-host <host>',
      'host of the Manager itself: /console/, /query, /pilets, /cli/authorize, /api/machine, /esb, …',
    )
    .option(
      '--backend-pattern <url>',
      'address of the backend of an application, such as http://{application}.{project}:8080',
    )
    .addOption(new Option('--format <format>', 'output format').choices(outputFormats).default('json'))
    .option('--out <file>', 'write to this file atomically (default: standard output)')
    .addHelpText(
      'after',
      `\nA proxy older than min_proxy_version rejects the configuration: see docs/guides/proxies/write-a-proxy.md.\n${examples}`,
    )
    .action(async (options: Options, command: Command) => {
      const configOptions = readOptions(options)
      await withDatabase(loadCommandConfig(terminal, command), (database) =>
        writeConfig(terminal, database, configOptions),
      )
    })
}

function readOptions({
  hostPattern,
  dedicatedHostPattern,
  managementHost,
  backendPattern,
  ...output
}: Options) {
  // Some names without a dot have a special meaning in nginx.
  if (managementHost !== undefined && !(isHost(managementHost) && managementHost.includes('.')))
    throw new Error(`${managementHost} is not a host: use a lowercase DNS name with a dot and without a port`)
  return {
    ...output,
    patterns: readHostPatterns(hostPattern, dedicatedHostPattern),
    managementHost: managementHost ?? null,
    backendPattern: backendPattern === undefined ? null : readBackendPattern(backendPattern),
  }
}

async function writeConfig(
  terminal: Terminal,
  database: Database,
  { format, out, ...configOptions }: ReturnType<typeof readOptions>,
): Promise<void> {
  const tooLongNames: string[] = []
  const snapshot = await database.openSnapshot()
  try {
    const hosts = streamVirtualHosts(snapshot, {
      ...configOptions,
      onTooLong: (name) => void tooLongNames.push(name),
    })
    const text = Readable.from(render(format, configOptions.managementHost, hosts))
    if (out === undefined) await pipeline(text, terminal.stdout, { end: false })
    else await writeAtomically(out, text)
  } finally {
    await snapshot.close()
  }
  for (const name of tooLongNames.slice(0, maxNamesShown))
    terminal.warn(`${name} has no host: its labels may have at most 63 characters and the host at most 253.`)
  const hiddenCount = tooLongNames.length - maxNamesShown
  if (hiddenCount > 0)
    terminal.warn(`Number of names without a host that are not listed above: ${hiddenCount}.`)
}

/** Replaces the file atomically: a reader sees the previous or the new file, never a partial file. */
async function writeAtomically(file: string, text: Readable): Promise<void> {
  const partialFile = `${file}.${process.pid}.part`
  try {
    await pipeline(text, createWriteStream(partialFile, { flags: 'wx' }))
    const handle = await open(partialFile, 'r')
    await handle.sync()
    await handle.close()
    await rename(partialFile, file)
  } catch (error) {
    await rm(partialFile, { force: true })
    throw error
  }
}
