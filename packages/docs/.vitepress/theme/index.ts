// The default theme with system fonts and high-contrast colors.
import theme from 'vitepress/theme-without-fonts'
import './site.css'

export default theme
