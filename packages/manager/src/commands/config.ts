import type { Command } from 'commander'
import { settings } from '../settings.ts'
import { platformSettings } from '../config/settings.ts'
import { formatConfigFile } from '../config/config-format.ts'
import { findConfigWarnings } from '../config/warnings.ts'
import { parseDatabaseAddress, parseRedisAddress } from '../platform/engine-addresses.ts'
import { createTopology } from '../platform/redis/topology.ts'
import { loadCommandConfig } from './context.ts'
import type { Terminal } from './terminal.ts'

/** Adds the `manager config` commands. */
export function addConfigCommands(program: Command, terminal: Terminal): void {
  const config = program
    .command('config')
    .description('Check and print the configuration. docs/reference/configuration.md lists every key.')
    .addHelpText('after', '\nExample:\n  $ npm run manager -- --config manager.yaml config check')

  config
    .command('check')
    .description(
      'Check the configuration and report all problems. If it finds any, it exits with a non-zero status.',
    )
    .addHelpText(
      'after',
      `
Warnings go to standard error and do not change the exit code. The command does not connect to the database
or to Redis; it prints their addresses.`,
    )
    .action((_options, command: Command) => {
      const values = loadCommandConfig(terminal, command)
      terminal.say(parseDatabaseAddress(values.databaseUrl).description)
      terminal.say(parseRedisAddress(values.redisUrl, createTopology(values)))
      for (const warning of findConfigWarnings(values, settings)) terminal.warn(`warning: ${warning}`)
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
      const values = loadCommandConfig(terminal, command)
      const notes = {
        [platformSettings.databaseUrl.key]: parseDatabaseAddress(values.databaseUrl).description,
        [platformSettings.redisUrl.key]: parseRedisAddress(values.redisUrl, createTopology(values)),
      }
      terminal.stdout.write(formatConfigFile(values, settings, notes))
    })
}
