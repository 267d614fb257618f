// The operator CLI. Creating the program does not read the configuration.
import type { Command } from 'commander'
import { version } from '../version.ts'
import { addAdminCommands } from './admin.ts'
import { addAuditCommands } from './audit.ts'
import { addBackendsCommands } from './backends.ts'
import { addConfigCommands } from './config.ts'
import { addDeploymentCommands } from './deployment.ts'
import { addKeysCommands } from './keys.ts'
import { addLegacyCommands } from './legacy.ts'
import { addMigrateCommands } from './migrate.ts'
import { addPiletKeysCommands } from './pilet-keys.ts'
import { addProxyConfigCommands } from './proxy-config.ts'
import { createRoot } from './root.ts'
import type { Terminal } from './terminal.ts'
import { addTriggerCommands } from './triggers.ts'

/** Creates the program `manager` with all its commands. */
export function createProgram(terminal: Terminal): Command {
  const program = createRoot('manager', terminal)
    .description(
      'Operate the Manager: schema, configuration, administrators, audit trail, backends, deployments, triggers, keys and proxy configuration.',
    )
    .version(version)
    .option('-c, --config <file>', 'YAML configuration file; SVC_ environment variables take precedence')
    .addHelpText(
      'after',
      `
Examples:
  $ npm run manager -- migrate up
  $ npm run manager -- config check
  $ npm run manager -- admin grant alice@example.com
  $ npm run manager -- audit verify
  $ npm run manager -- backends list
  $ npm run manager -- deployment scale-to-zero shop/web dev on
  $ npm run manager -- triggers runs --outcome failed
  $ npm run manager -- keys status
  $ npm run manager -- pilet-keys list
  $ npm run manager -- legacy import --from postgres://reader@old-host/old --plan
  $ npm run manager -- proxy-config --host-pattern '{application}.{project}.example.com'

To start the service itself, run npm start.`,
    )

  addMigrateCommands(program, terminal)
  addConfigCommands(program, terminal)
  addAdminCommands(program, terminal)
  addAuditCommands(program, terminal)
  addBackendsCommands(program, terminal)
  addDeploymentCommands(program, terminal)
  addTriggerCommands(program, terminal)
  addKeysCommands(program, terminal)
  addPiletKeysCommands(program, terminal)
  addLegacyCommands(program, terminal)
  addProxyConfigCommands(program, terminal)
  return program
}
