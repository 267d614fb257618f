// The VitePress configuration of the site.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { MarkdownEnv, MarkdownRenderer, UserConfig } from 'vitepress'
import { addContentPolicy } from './content-policy.ts'
import { makeAddressesRelative } from './addresses.ts'
import { adaptMarkdown } from './markdown.ts'
import { fileFolder, root } from './pages.ts'
import { createSidebarByFolder } from './sidebar.ts'

/**
 * Returns whether a page is about past changes. The search excludes such pages, because they would outrank the guides.
 */
const isHistory = (page: string): boolean =>
  /^(decisions\/|project\/changelog|reference\/conformance)/.test(page)

export const stagingFolder = new URL('../.stage/', import.meta.url).pathname
export const output = new URL('../out/', import.meta.url).pathname

const trackedFiles = new Set(execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n'))

const copyFile = (source: string): void => {
  if (!trackedFiles.has(source))
    throw new Error(`a page links to ${source}, which is not tracked in the repository`)
  const target = `${stagingFolder}public/${fileFolder}/${source}`
  mkdirSync(dirname(target), { recursive: true })
  cpSync(root + source, target)
}

export const config: UserConfig = {
  srcDir: stagingFolder,
  outDir: output,
  cacheDir: new URL('../.cache/', import.meta.url).pathname,
  title: 'Manager',
  description: 'Documentation of the Manager',
  lang: 'en-US',
  appearance: true,
  lastUpdated: false,
  // Ignores links to localhost, which tutorials contain and which work only while the demo runs. Any other link to a
  // missing page stops the build.
  ignoreDeadLinks: [/^http:\/\/localhost:/],
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: (md) => adaptMarkdown(md, copyFile),
  },
  transformHtml: (html, _file, { page }) => addContentPolicy(makeAddressesRelative(html, page)),
  themeConfig: {
    siteTitle: 'Manager',
    outline: [2, 3],
    nav: [
      { text: 'Start', link: '/start/run-the-demo' },
      { text: 'Guides', link: '/#guides' },
      { text: 'Reference', link: '/#reference' },
      { text: 'Explanation', link: '/#explanation' },
    ],
    sidebar: createSidebarByFolder(),
    search: {
      provider: 'local',
      options: {
        miniSearch: { searchOptions: { fuzzy: 0.2, prefix: true, boost: { title: 5, titles: 3, text: 1 } } },
        _render: (source: string, env: MarkdownEnv, md: MarkdownRenderer) =>
          isHistory(env.relativePath) ? '' : md.render(source, env),
      },
    },
  },
}
