// export: prints a project as a file that `apply` reads. Secrets become references to files.
import type { Command } from 'commander'
import { type Context, addCommand, setAction } from '../context.ts'
import { ProjectExporter } from '../export/export-project.ts'
import { formatDocument } from '../export/export-text.ts'
import { type Row, printRemark } from '../output.ts'
import { type ParentOptions, addParentOptions, getProject } from '../parents.ts'
import { projects } from '../resources/projects.ts'
import { getRow, listRows } from '../rows.ts'
import type { Terminal } from '../terminal.ts'
import { formatCount } from '../words.ts'

type Options = ParentOptions & { allProjects?: boolean }

export function addExportCommand(program: Command, terminal: Terminal): void {
  const command = addCommand(program, {
    name: 'export',
    summary: 'Print a project as a file for svc apply.',
    description:
      'Print a project as a YAML file that svc apply reads. The file contains no secrets: it names the files that apply reads them from. Equal projects have equal files.',
    examples: [
      'export -p shop > shop.yaml',
      'export -p shop --output json',
      'export --all-projects > projects.yaml',
    ],
  })
  addParentOptions(command, 'project')
  command.option('--all-projects', 'export all projects that you can see')
  setAction<Options>(command, terminal, exportProjects)
}

async function exportProjects(context: Context, _args: string[], options: Options): Promise<void> {
  const { terminal, format, signal } = context
  const connection = await context.connect()
  const exporter = new ProjectExporter(connection, signal)
  const maps = []
  for (const row of await readProjects(context, connection, options))
    maps.push(await exporter.exportProject(row))
  terminal.stdout.write(formatDocument(maps, format))
  for (const problem of exporter.problems)
    printRemark(terminal, `Warning: svc apply rejects these values in a new project: ${problem}`)
  const { length } = exporter.secretFiles
  if (length > 0)
    printRemark(
      terminal,
      `Secrets are not exported. The file refers to ${formatCount(length, 'file')} below secrets/. Before you create the objects elsewhere, write the passwords and the tokens of endpoints to these files.`,
    )
}

type Connection = Awaited<ReturnType<Context['connect']>>

async function readProjects(
  context: Context,
  connection: Connection,
  options: Options,
): Promise<readonly Row[]> {
  const { signal } = context
  if (options.allProjects === true) {
    const { rows } = await listRows(connection, projects, null, {
      order: [{ field: 'slug', direction: 'ASC' }],
      signal,
    })
    return rows
  }
  const { id } = await getProject(context, connection, options)
  return [await getRow(connection, projects, null, { named: id, signal })]
}
