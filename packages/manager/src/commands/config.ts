import type { Command } from 'commander'
import { settings } from '../settings.ts'
import { platformSettings } from '../config/settings.ts'
import { configText } from '../config/shown-config.ts'
import { configWarnings } from '../config/warnings.ts'
import { databaseAddress, redisAddress } from '../platform/engine-addresses.ts'
import { topologyOf } from '../platform/redis/topology.ts'
import { commandConfig } from './context.ts'
import type { Terminal } from './terminal.ts'

/** manager config … */
export function addConfigCommands(program: Command, terminal: Terminal): void {
  const config = program
    .command('config')
    .description('Check and show the configuration. docs/reference/configuration.md lists every key.')
    .addHelpText('after', '\nExample:\n  $ npm run manager -- --config manager.yaml config check')

  config
    .command('check')
    .description('Read the configuration and name every problem at once; exits non-zero when there is one.')
    .addHelpText(
      'after',
      `
Warnings go to standard error and leave the exit status at zero. Nothing is connected to: the database and
Redis are named as they would be.`,
    )
    .action((_options, command: Command) => {
      const values = commandConfig(terminal, command)
      terminal.say(databaseAddress(values.databaseUrl).sentence)
      terminal.say(redisAddress(values.redisUrl, topologyOf(values)))
      for (const warning of configWarnings(values, settings)) terminal.warn(`warning: ${warning}`)
      terminal.say('the configuration is fine')
    })

  config
    .command('print')
    .description('Print the effective configuration with every secret masked.')
    .addHelpText(
      'after',
      `
What is printed is a configuration file. Secrets that are set are comments in it: give them by their variables,
such as SVC_MASTER_KEY or SVC_MASTER_KEY_FILE, and the file is accepted as it is.

Example:
  $ npm run --silent manager -- config print > manager.yaml
  $ npm run manager -- --config manager.yaml config check`,
    )
    .action((_options, command: Command) => {
      const values = commandConfig(terminal, command)
      const notes = {
        [platformSettings.databaseUrl.key]: databaseAddress(values.databaseUrl).sentence,
        [platformSettings.redisUrl.key]: redisAddress(values.redisUrl, topologyOf(values)),
      }
      terminal.stdout.write(configText(values, settings, notes))
    })
}
