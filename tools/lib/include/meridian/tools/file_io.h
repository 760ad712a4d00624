// SPDX-License-Identifier: MIT
#pragma once
/// Files as the tools read and write them: outputs appear whole or not at all, and one that would not change is left
/// alone.

#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

namespace meridian::tools {

enum class WriteMode {
  if_changed,  ///< an output with the same bytes keeps its time and inode
  always,
};

enum class WriteOutcome { written, unchanged, failed };

struct WriteResult {
  WriteOutcome outcome = WriteOutcome::failed;
  int error = 0;  ///< errno's value if failed
};

/// Writes a whole file beside its target, without a name where the system can do that, and puts it in the target's
/// place, so that readers and mappings see the old file or the new one, never a part. A failure leaves the old file and
/// nothing else. A link is followed; a pipe or device is written directly. New files have mode 0666 less the umask.
/// Nothing is flushed to disk: after a loss of power a build runs again anyway.
/// Errors:  what open, write, close and rename say; EISDIR for a folder.
/// Threads: reentrant; two writers of one path both succeed and the last one stays.
WriteResult write_file(const std::string& path, std::span<const uint8_t> bytes, WriteMode mode);
WriteResult write_file(const std::string& path, std::string_view text, WriteMode mode);

/// Writes and flushes. Returns errno's value, 0 if all bytes were taken.
int write_stream(std::FILE* stream, std::string_view text);

/// Deletes what writers that were killed left in a folder: temporary files of processes that are no more, and that are
/// at least so old. Those of other hosts look the same: in a folder that hosts share, give an age beyond any write.
void remove_stray_files(const std::string& folder, int64_t least_age_seconds);

/// Makes the folders above `path`. Returns errno's value, 0 if they are there.
int create_parent_folders(const std::string& path);

/// Reads a whole file. Returns errno's value.
int read_file(const std::string& path, std::string& out);

/// Reads a stream to its end, or until it has more than `limit` bytes (the caller sees that from the size).
/// A signal interrupts it where `cancel` says so: EINTR. Returns errno's value.
int read_stream(std::FILE* stream, uint64_t limit, bool (*cancelled)(const void*), const void* context,
                std::string& out);

/// The system's words for errno's value, in English.
std::string error_text(int error);

/// The folder part of a path, "." if there is none.
std::string parent_folder(const std::string& path);

/// A folder's path without the slashes at its end; the root stays.
std::string without_slashes(std::string path);

/// One spelling for each file: the folder's real path and the last component as given. Two paths of one file have the
/// same identity; a link and its target have not.
std::string file_identity(const std::string& path);

}  // namespace meridian::tools
