import type { Command } from 'commander'
import { stringify } from 'yaml'
import { settings } from '../app.ts'
import { printableConfig } from '../config/config.ts'
import { commandConfig, say } from './context.ts'

/** manager config … */
export function addConfigCommands(program: Command): void {
  const config = program
    .command('config')
    .description('Check and show the configuration. docs/configuration.md lists every key.')
    .addHelpText('after', '\nExample:\n  $ npm run manager -- --config manager.yaml config check')

  config
    .command('check')
    .description('Read the configuration and name every problem at once; exits non-zero when there is one.')
    .action((_options, command: Command) => {
      commandConfig(command)
      say('the configuration is fine')
    })

  config
    .command('print')
    .description('Print the effective configuration with every secret masked.')
    .action((_options, command: Command) => {
      process.stdout.write(stringify(printableConfig(commandConfig(command), settings)))
    })
}
