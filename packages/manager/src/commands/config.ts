import type { Command } from 'commander'
import { settings } from '../settings.ts'
import { platformSettings } from '../config/settings.ts'
import { configText } from '../config/config-format.ts'
import { configWarnings } from '../config/warnings.ts'
import { databaseAddress, redisAddress } from '../platform/engine-addresses.ts'
import { topologyOf } from '../platform/redis/topology.ts'
import { commandConfig } from './context.ts'
import type { Terminal } from './terminal.ts'

/** manager config … */
export function addConfigCommands(program: Command, terminal: Terminal): void {
  const config = program
    .command('config')
    .description('Check and print the configuration. docs/reference/configuration.md lists every key.')
    .addHelpText('after', '\nExample:\n  $ npm run manager -- --config manager.yaml config check')

  config
    .command('check')
    .description('Check the configuration and report all problems. Exits non-zero if there are any.')
    .addHelpText(
      'after',
      `
Warnings go to standard error and do not change the exit code. The command does not connect to the database
or to Redis; it prints their addresses.`,
    )
    .action((_options, command: Command) => {
      const values = commandConfig(terminal, command)
      terminal.say(databaseAddress(values.databaseUrl).description)
      terminal.say(redisAddress(values.redisUrl, topologyOf(values)))
      for (const warning of configWarnings(values, settings)) terminal.warn(`warning: ${warning}`)
      terminal.say('The configuration is valid.')
    })

  config
    .command('print')
    .description('Print the effective configuration with every secret masked.')
    .addHelpText(
      'after',
      `
The output is a configuration file in which secrets are commented out. Set the secrets by variable, such as
SVC_MASTER_KEY or SVC_MASTER_KEY_FILE, to use the file unchanged.

Example:
  $ npm run --silent manager -- config print > manager.yaml
  $ npm run manager -- --config manager.yaml config check`,
    )
    .action((_options, command: Command) => {
      const values = commandConfig(terminal, command)
      const notes = {
        [platformSettings.databaseUrl.key]: databaseAddress(values.databaseUrl).description,
        [platformSettings.redisUrl.key]: redisAddress(values.redisUrl, topologyOf(values)),
      }
      terminal.stdout.write(configText(values, settings, notes))
    })
}
