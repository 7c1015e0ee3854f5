// The command plugin `swift package shellac`, which runs the command `shellac` with its arguments.

import Foundation
import PackagePlugin

/// Runs the command of the package that the user's package depends on.
@main
struct ShellacPlugin: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        let process = Process()
        process.executableURL = try context.tool(named: "ShellacCommand").url
        process.arguments = arguments
        try process.run()
        process.waitUntilExit()
        // The command has said what is wrong, and its exit code means something to a script.
        if process.terminationStatus != 0 { exit(process.terminationStatus) }
    }
}
