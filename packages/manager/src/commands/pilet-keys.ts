import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { type SignedPackages, createPackageSigning } from '../features/pilets/sign-packages.service.ts'
import { type Signing, createSigning } from '../features/pilets/signing.service.ts'
import type { ListedKey } from '../features/pilets/signing.store.ts'
import { type Audit, createAudit } from '../platform/audit/append.ts'
import type { Database } from '../platform/postgres/database.ts'
import { encryptionRing } from '../platform/secrets/keys.ts'
import { createLockMasterKey } from '../platform/secrets/master-key.ts'
import { createSecrets } from '../platform/secrets/secrets.ts'
import { commandConfig, silentLog, withKeyedDatabase } from './context.ts'
import { table } from './table.ts'
import type { Terminal } from './terminal.ts'

/** manager pilet-keys … */
export function addPiletKeysCommands(program: Command, terminal: Terminal): void {
  const keys = program
    .command('pilet-keys')
    .description('Manage the keys that sign pilets, and sign pilets that are stored already.')
    .addHelpText(
      'after',
      `
To change the key that signs while the service runs:
  1. $ npm run manager -- pilet-keys create
  2. $ npm run --silent manager -- pilet-keys export > pilet-signing-keys.json
     Give it to your pages as pilet_signing_keys, and wait until all of them have it.
  3. $ npm run manager -- pilet-keys activate 3f2a9c0d81b7e654
  The former key stays: pages need it for what it has signed.`,
    )
  addCreateCommand(keys, terminal)
  addListCommand(keys, terminal)
  addActivateCommand(keys, terminal)
  addExportCommand(keys, terminal)
  addSignCommand(keys, terminal)
  addDeleteCommand(keys, terminal)
}

const examples = (...lines: string[]): string =>
  `\n${lines.length === 1 ? 'Example' : 'Examples'}:\n${lines.map((line) => `  $ ${line}`).join('\n')}`

function addCreateCommand(keys: Command, terminal: Terminal): void {
  keys
    .command('create')
    .description('Make a new key. It signs once it is activated; the first one of an installation at once.')
    .addHelpText('after', examples('npm run manager -- pilet-keys create'))
    .action(async (_options, command: Command) => {
      const { keyId, isActive } = await withSigning(commandConfig(terminal, command), ({ signing }) =>
        signing.create(),
      )
      terminal.say(
        isActive ? `${keyId} is the first key, and signs` : `${keyId} is in the ring, and does not sign yet`,
      )
      terminal.say(
        'next: `manager pilet-keys export`, and give the result to your pages as pilet_signing_keys',
      )
      if (!isActive) terminal.say(`then, once all pages have it: \`manager pilet-keys activate ${keyId}\``)
    })
}

function addListCommand(keys: Command, terminal: Terminal): void {
  keys
    .command('list')
    .description(
      'List the keys, the oldest first: which one signs, since when, and how many pilets each has signed.',
    )
    .option('--json', 'print one JSON object per key instead of a table')
    .addHelpText(
      'after',
      examples('npm run manager -- pilet-keys list', 'npm run --silent manager -- pilet-keys list --json'),
    )
    .action(async (options: { json?: boolean }, command: Command) => {
      const [found, { unsigned, unstated }] = await withSigning(
        commandConfig(terminal, command),
        async ({ signing }) => [await signing.list(), await signing.countUnsigned()],
      )
      for (const line of options.json === true ? found.map(asJson) : asTable(found)) terminal.say(line)
      // Not on standard output, which --json keeps machine-readable.
      if (found.length === 0) terminal.warn('there is no key yet; the first upload makes one')
      if (unsigned > 0)
        terminal.warn(
          `${pilets(unsigned)} no signature; \`manager pilet-keys sign\` signs ${unsigned === 1 ? 'it' : 'them'}`,
        )
      if (unstated > 0)
        terminal.warn(
          `${pilets(unstated)} no statement; \`manager pilet-keys sign\` signs ${unstated === 1 ? 'one' : 'one for each'}`,
        )
    })
}

const pilets = (count: number): string => (count === 1 ? '1 pilet has' : `${count} pilets have`)

function addActivateCommand(keys: Command, terminal: Terminal): void {
  keys
    .command('activate')
    .description('Let this key sign from now on. The former one stays, for what it has signed.')
    .argument('<key-id>', 'the id of the key, as `manager pilet-keys list` prints it')
    .addHelpText(
      'after',
      `
Pages refuse what is signed with a key they do not have: export it and roll it out first.
${examples('npm run manager -- pilet-keys activate 3f2a9c0d81b7e654')}`,
    )
    .action(async (keyId: string, _options, command: Command) => {
      const changed = await withSigning(commandConfig(terminal, command), ({ signing }) =>
        signing.activate(keyId),
      )
      terminal.say(changed ? `${keyId} signs from now on` : `${keyId} is active already`)
    })
}

function addExportCommand(keys: Command, terminal: Terminal): void {
  keys
    .command('export')
    .description('Print the public keys as pages need them: a JSON object, key id to base64 of the raw key.')
    .option('--pretty', 'one key per line')
    .addHelpText(
      'after',
      `
Pages get the object as window.__SVC__.config.pilet_signing_keys. Private keys are not in it.
${examples('npm run --silent manager -- pilet-keys export > pilet-signing-keys.json')}`,
    )
    .action(async (options: { pretty?: boolean }, command: Command) => {
      const publicKeys = await withSigning(commandConfig(terminal, command), ({ signing }) =>
        signing.publicKeys(),
      )
      if (Object.keys(publicKeys).length === 0)
        throw new Error('there is no key to export; `manager pilet-keys create` makes the first one')
      // Not by `say`, which replaces line ends.
      terminal.stdout.write(`${JSON.stringify(publicKeys, null, options.pretty === true ? 2 : undefined)}\n`)
    })
}

function addSignCommand(keys: Command, terminal: Terminal): void {
  keys
    .command('sign')
    .description(
      'Sign stored pilets that have no signature or no statement with the active key; may be run again at any time.',
    )
    .option('--replacing <key-id>', 'sign what this key has signed instead')
    .addHelpText(
      'after',
      `
Exits 1, and names them, when stored bytes are damaged, or never had the signature that they are stored with.
${examples('npm run manager -- pilet-keys sign', 'npm run manager -- pilet-keys sign --replacing 3f2a9c0d81b7e654')}`,
    )
    .action(async ({ replacing = null }: { replacing?: string | null }, command: Command) => {
      const { signed, damaged } = await withSigning(commandConfig(terminal, command), (scope) =>
        signStored(scope, replacing, (done) => terminal.progress(`\rpilets ${done}`)),
      )
      terminal.progress('\n')
      terminal.say(signed === 1 ? '1 pilet was signed' : `${signed} pilets were signed`)
      for (const one of damaged) terminal.warn(damageOf(one))
      if (damaged.length === 0) return
      terminal.warn('these were not signed; upload them again under a new version')
      terminal.exitCode = 1
    })
}

function addDeleteCommand(keys: Command, terminal: Terminal): void {
  keys
    .command('delete')
    .description('Remove a key that neither signs nor has signed any pilet. It cannot be brought back.')
    .argument('<key-id>', 'the id of the key, as `manager pilet-keys list` prints it')
    .addHelpText('after', examples('npm run manager -- pilet-keys delete 3f2a9c0d81b7e654'))
    .action(async (keyId: string, _options, command: Command) => {
      await withSigning(commandConfig(terminal, command), ({ signing }) => signing.remove(keyId))
      terminal.say(`${keyId} is deleted; export the keys again, and give them to your pages`)
    })
}

const damages = {
  bytes: 'the bytes SHA256 are not there whole',
  signature: 'its signature is not of these bytes',
  statement: 'its bytes begin like a statement, which could speak for another pilet',
}
const damageOf = ({ project, name, version, sha256, damage }: SignedPackages['damaged'][number]): string =>
  `DAMAGED ${name} ${version} of project ${project}: ${damages[damage].replace('SHA256', sha256)}`

const stateOf = ({ isActive }: ListedKey): string => (isActive ? 'active' : 'verifies')

const asJson = (key: ListedKey): string =>
  JSON.stringify({
    key_id: key.keyId,
    state: stateOf(key),
    created_at: key.createdAt,
    activated_at: key.activatedAt,
    pilets: key.packages,
  })

function asTable(keys: readonly ListedKey[]): string[] {
  if (keys.length === 0) return []
  const rows = keys.map((key) => [
    key.keyId,
    stateOf(key),
    key.createdAt,
    key.activatedAt ?? '-',
    String(key.packages),
  ])
  return table(['KEY', 'STATE', 'CREATED', 'ACTIVATED', 'PILETS'], rows)
}

type SigningScope = {
  signing: Signing
  audit: Audit
  config: Config
  database: Database
}

/** Runs the work with the ring of the configured database. */
const withSigning = <T>(config: Config, work: (scope: SigningScope) => Promise<T>): Promise<T> =>
  withKeyedDatabase(config, (database) => {
    const { db, clock } = database
    const audit = createAudit(clock)
    const secrets = createSecrets(encryptionRing(config.masterKey, config.encryptionKeys))
    const lockMasterKey = createLockMasterKey(config.masterKey)
    return work({ signing: createSigning({ db, audit, secrets, lockMasterKey }), audit, config, database })
  })

async function signStored(
  scope: SigningScope,
  replacing: string | null,
  onPackage: (done: number) => void,
): Promise<SignedPackages> {
  // Only this command loads what is outside of a process.
  const { blobStoresOf } = await import('../world.ts')
  const stores = blobStoresOf(scope.config, scope.database, silentLog)
  try {
    const { db } = scope.database
    return await createPackageSigning({ ...scope, db, stores })({ replacing, onPackage })
  } finally {
    await stores.close()
  }
}
