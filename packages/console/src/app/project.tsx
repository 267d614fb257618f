// The project that the address names, with the caller's permissions in it.
import { type ReactNode, createContext, use } from 'react'
import { startRead, useRead } from '../api/requests.ts'
import {
  type Permission,
  type ShellEnvironmentsResult,
  type ShellProjectResult,
  shellEnvironmentsDocument,
  shellProjectDocument,
} from '../generated/documents.ts'
import { type ActionName, may } from './actions.ts'

export type CurrentEnvironment = ShellEnvironmentsResult['environments'][number]
export type CurrentProject = ShellProjectResult['project'] & {
  /** Empty if the caller may not list the environments. */
  readonly environments: readonly CurrentEnvironment[]
}
type ProjectRead = {
  readonly project: CurrentProject | null
  readonly error: Error | null
  readonly retry: () => void
}

const canListEnvironments = ({ myPermissions }: ShellProjectResult['project']): boolean =>
  myPermissions.includes('PROJECT_READ')

/** Starts the reads of `useProjectRead` while the files of a page are still loading. */
export async function startProjectRead(slug: string): Promise<void> {
  const { project } = await startRead(shellProjectDocument, { slug })
  if (canListEnvironments(project)) await startRead(shellEnvironmentsDocument, { projectId: project.id })
}

/** Reads a project by its slug. A member of a single tenant may open the project but not list its environments. */
export function useProjectRead(slug: string | undefined): ProjectRead {
  const base = useRead(shellProjectDocument, { slug: slug ?? '' }, { isEnabled: slug !== undefined })
  const project = base.data?.project
  const hasEnvironments = project !== undefined && canListEnvironments(project)
  const environments = useRead(
    shellEnvironmentsDocument,
    { projectId: project?.id ?? '' },
    { isEnabled: hasEnvironments },
  )
  const list = hasEnvironments ? environments.data?.environments : []
  return {
    project: project === undefined || list === undefined ? null : { ...project, environments: list },
    error: project === undefined ? base.error : environments.error,
    retry: () => void (project === undefined ? base.refetch() : environments.refetch()),
  }
}

const ProjectContext = createContext<CurrentProject | null>(null)

export const ProjectProvider = ({
  project,
  children,
}: {
  project: CurrentProject
  children: ReactNode
}): ReactNode => <ProjectContext value={project}>{children}</ProjectContext>

/** Returns the project of the current page. Only pages below `/p/<slug>/` have one. */
export function useProject(): CurrentProject {
  const project = use(ProjectContext)
  if (project === null) throw new Error('this page has no project')
  return project
}

/** Returns whether the caller has a permission on the project of the page, for panels that only read. */
export const useCan = (permission: Permission): boolean => useProject().myPermissions.includes(permission)

/** Returns whether the caller may use an action on the project of the page. */
export const useMay = (action: ActionName): boolean => may(useProject(), action)
